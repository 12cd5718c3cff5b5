// The demonstration: the call of examples/quickstart against a server that is
// not ready yet, as redial sees it and as the server does.
//
//   tools/demo [SERVICE_CONFIG]
#include <grpcpp/grpcpp.h>

#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/redial/v1/echo.grpc.pb.h"
#include "proto/redial/v1/echo.pb.h"
#include "redial/config/duration_text.h"
#include "redial/config/service_config.h"
#include "redial/core/call_observer.h"
#include "redial/core/call_report.h"
#include "redial/core/instant.h"
#include "redial/grpc/channel.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tools/redial/scenario/timeline.h"

namespace redial {
namespace {

constexpr char kServiceConfig[] = "examples/quickstart/service_config.json";

// Prints what happens while it happens.
class Narrator final : public CallObserver {
 public:
  void OnCallStart(const CallInfo& call) override {
    start_ = ScriptedGrpcServer::Now();
    Line(absl::StrFormat("call %s", call.method));
  }
  void OnAttemptStart(const CallInfo&, int number, AttemptKind) override {
    Line(absl::StrFormat("attempt %d", number));
  }
  void OnAttemptEnd(const CallInfo&, const AttemptRecord& attempt) override {
    Line(absl::StrFormat("attempt %d: %s (%s)", attempt.number,
                         CodeName(attempt.code),
                         OutcomeClassName(attempt.outcome_class)));
  }
  void OnRetryScheduled(const CallInfo&, const RetryScheduled& retry) override {
    Line(absl::StrFormat(
        "wait %s: %s",
        DurationText(absl::Trunc(retry.wait, absl::Microseconds(1))),
        WaitText(retry.wait_from)));
  }
  void OnCallEnd(const CallInfo&, const CallReport& report) override {
    Line(absl::StrFormat("the caller is told %s: %s", CodeName(report.code),
                         StopReasonText(report.stop_reason)));
  }

 private:
  void Line(const std::string& text) {
    const absl::Duration at = ScriptedGrpcServer::Now() - start_;
    std::cout << absl::StrFormat("  %.3fs  %s\n", absl::ToDoubleSeconds(at),
                                 text);
  }

  Instant start_;
};

int Run(const std::string& service_config) {
  const auto policy = ServiceConfig::FromJsonFile(service_config);
  if (!policy.ok()) {
    std::cerr << policy.status().message() << "\n";
    return 2;
  }
  const ScriptedGrpcServer server(
      {ScriptedGrpcAnswer::Error(grpc::StatusCode::UNAVAILABLE, "warming up")
           .After(absl::Milliseconds(20)),
       ScriptedGrpcAnswer::Error(grpc::StatusCode::UNAVAILABLE, "almost")
           .WithTrailer("grpc-retry-pushback-ms", "250"),
       ScriptedGrpcAnswer::Ok()});
  if (!server.status().ok()) {
    std::cerr << server.status().message() << "\n";
    return 1;
  }
  std::cout << "A server that refuses twice, and an ordinary stub on a redial "
               "channel.\nPolicy: "
            << service_config << "\n\n";
  ChannelOptions options;
  options.observer = std::make_shared<Narrator>();
  const auto stub = redial::v1::Echo::NewStub(CreateChannel(
      server.target(), grpc::InsecureChannelCredentials(), *policy, options));
  grpc::ClientContext context;
  redial::v1::EchoRequest request;
  request.set_text("hello");
  redial::v1::EchoResponse response;
  const grpc::Status status = stub->Unary(&context, request, &response);

  std::cout << "\nThe stub returned "
            << (status.ok() ? "OK, \"" + response.text() + "\""
                            : status.error_message())
            << ". The server saw:\n\n";
  for (const ScriptedGrpcRequest& seen : server.Requests()) {
    const auto previous = seen.metadata.find("redial-previous-attempts");
    std::cout << "  " << seen.method << "  attempts before this one: "
              << (previous == seen.metadata.end() ? "0" : previous->second)
              << "\n";
  }
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace redial

int main(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : redial::kServiceConfig;
  if (argc > 2 || argument == "--help" || argument == "-h") {
    std::cout << "usage: tools/demo [SERVICE_CONFIG]\n\n"
                 "One call through redial to a server that refuses twice.\n";
    return argc > 2 ? 2 : 0;
  }
  return redial::Run(argument);
}
