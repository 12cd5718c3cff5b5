// MiddleServer: a server whose handler makes a call further down. For one call.
#ifndef REDIAL_TESTS_GRPC_MIDDLE_SERVER_H_
#define REDIAL_TESTS_GRPC_MIDDLE_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/redial/v1/echo.grpc.pb.h"
#include "tests/grpc/echo_backend.h"
#include "tests/grpc/unary_harness.h"

namespace redial {

class MiddleServer {
 public:
  using Handle = std::function<UnaryResult(grpc::ServerContext&)>;

  explicit MiddleServer(Handle handle)
      : handle_(std::move(handle)),
        backend_([this](const EchoArrival&, grpc::ServerContext& context,
                        const v1::EchoRequest&, v1::EchoResponse*) {
          UnaryResult result = handle_(context);
          const grpc::Status status = result.status;
          result_.set_value(std::move(result));
          return status;
        }) {}

  // One call to the middle; `meanwhile` runs beside it. Returns what the
  // handler got from below.
  UnaryResult Call(absl::Duration deadline,
                   std::function<void(grpc::ClientContext&)> meanwhile = {}) {
    const auto stub = v1::Echo::NewStub(grpc::CreateChannel(
        backend_.target(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    if (deadline < absl::InfiniteDuration()) {
      context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
    }
    std::thread beside([&] {
      if (meanwhile) meanwhile(context);
    });
    v1::EchoResponse response;
    stub->Unary(&context, v1::EchoRequest(), &response);
    beside.join();
    return result_.get_future().get();
  }

 private:
  const Handle handle_;
  std::promise<UnaryResult> result_;
  EchoBackend backend_;  // the last: its handler uses the others
};

}  // namespace redial

#endif  // REDIAL_TESTS_GRPC_MIDDLE_SERVER_H_
