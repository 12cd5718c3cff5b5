// A server in the middle: its handler calls another server and passes on the
// deadline of the call that it serves, and its cancellation.
//
//   deadline TARGET
//
// Starts the middle server, calls it with one second, and prints what is left
// when the call arrives at TARGET: less than a second, on every attempt.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "proto/redial/v1/echo.grpc.pb.h"
#include "redial/config/service_config.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/deadline_scope.h"

namespace {

constexpr char kServiceConfig[] = R"({
  "methodConfig": [ {
    "name": [ { "service": "redial.v1.Echo" } ],
    "retryPolicy": { "maxAttempts": 3, "initialBackoff": "0.05s",
                     "maxBackoff": "0.5s", "backoffMultiplier": 2,
                     "retryableStatusCodes": [ "UNAVAILABLE" ] }
  } ],
  "retryThrottling": { "maxTokens": 100, "tokenRatio": 0.1 }
})";

class MiddleServer final : public redial::v1::Echo::Service {
 public:
  explicit MiddleServer(std::unique_ptr<redial::v1::Echo::Stub> next)
      : next_(std::move(next)) {}

  grpc::Status Unary(grpc::ServerContext* context,
                     const redial::v1::EchoRequest* request,
                     redial::v1::EchoResponse* response) override {
    // Keep 50 ms for our own answer.
    redial::DeadlineScope::Options options;
    options.reserve = absl::Milliseconds(50);
    const redial::DeadlineScope scope(*context, options);
    grpc::ClientContext next_context;  // no deadline of its own: it inherits
    return next_->Unary(&next_context, *request, response);
  }

 private:
  const std::unique_ptr<redial::v1::Echo::Stub> next_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: deadline TARGET\n";
    return 2;
  }
  auto policy = redial::ServiceConfig::FromJson(kServiceConfig);
  if (!policy.ok()) {
    std::cerr << policy.status().message() << "\n";
    return 1;
  }
  MiddleServer middle(redial::v1::Echo::NewStub(redial::CreateChannel(
      argv[1], grpc::InsecureChannelCredentials(), *policy)));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&middle);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();

  auto stub = redial::v1::Echo::NewStub(grpc::CreateChannel(
      "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(1));
  redial::v1::EchoRequest request;
  request.set_text("through the middle");
  redial::v1::EchoResponse response;
  const grpc::Status status = stub->Unary(&context, request, &response);
  std::cout << (status.ok() ? response.text() : status.error_message()) << "\n";
  server->Shutdown();
  return status.ok() ? 0 : 1;
}
