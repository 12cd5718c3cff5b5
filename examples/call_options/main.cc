// Options and a report for one call.
//
//   call_options TARGET
//
// The method is not idempotent by itself. A key makes it so: the server can
// tell a second attempt from a second order.
#include <grpcpp/grpcpp.h>

#include <iostream>

#include "absl/time/time.h"
#include "proto/redial/v1/echo.grpc.pb.h"
#include "redial/config/service_config.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/scoped_call_options.h"

namespace {

constexpr char kServiceConfig[] = R"({
  "methodConfig": [ {
    "name": [ { "service": "redial.v1.Echo" } ],
    "redial": { "retry": { "maxAttempts": 3, "initialBackoff": "0.05s" },
                "retryBudget": { "ratio": 0.2 } }
  } ]
})";

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: call_options TARGET\n";
    return 2;
  }
  auto policy = redial::ServiceConfig::FromJson(kServiceConfig);
  if (!policy.ok()) {
    std::cerr << policy.status().message() << "\n";
    return 1;
  }
  auto channel = redial::CreateChannel(
      argv[1], grpc::InsecureChannelCredentials(), *policy);
  auto stub = redial::v1::Echo::NewStub(channel);

  grpc::ClientContext context;
  redial::CallReport report;
  redial::ScopedCallOptions scoped(context,
                                   redial::CallOptions()
                                       .set_idempotency_key("build-8812")
                                       .set_attempt_timeout(absl::Seconds(2)),
                                   &report);
  redial::v1::EchoRequest request;
  request.set_text("start build 8812");
  redial::v1::EchoResponse response;
  const grpc::Status status = stub->Unary(&context, request, &response);

  std::cout << report.Summary() << "\n";
  for (const redial::AttemptRecord& attempt : report.attempts) {
    std::cout << "  attempt " << attempt.number << ": "
              << redial::CodeName(attempt.code) << ", waited "
              << absl::FormatDuration(attempt.wait) << " before it ("
              << redial::WaitSourceName(attempt.wait_from) << ")\n";
  }
  return status.ok() ? 0 : 1;
}
