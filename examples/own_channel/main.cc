// redial on a channel of one's own, beside an interceptor that signs requests.
//
//   own_channel TARGET
//
// The signing interceptor stands behind redial: it runs again for each attempt,
// so a retry never carries an old signature.
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/client_interceptor.h>

#include <iostream>
#include <memory>

#include "proto/redial/v1/echo.grpc.pb.h"
#include "redial/config/service_config.h"
#include "redial/grpc/interceptor_stack.h"

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

class SigningInterceptor final : public grpc::experimental::Interceptor {
 public:
  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::
                PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("x-signature", "signed-now");
    }
    methods->Proceed();
  }
};

class SigningFactory final
    : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new SigningInterceptor;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: own_channel TARGET\n";
    return 2;
  }
  auto policy = redial::ServiceConfig::FromJson(kServiceConfig);
  if (!policy.ok()) {
    std::cerr << policy.status().message() << "\n";
    return 1;
  }
  redial::InterceptorStack stack(*policy, argv[1]);
  stack.AddPerAttempt(std::make_unique<SigningFactory>());
  std::cout << stack.Describe();

  grpc::ChannelArguments arguments = stack.ChannelArguments();
  arguments.SetUserAgentPrefix("own-channel");
  auto channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      argv[1], grpc::InsecureChannelCredentials(), arguments,
      stack.Factories());

  auto stub = redial::v1::Echo::NewStub(channel);
  grpc::ClientContext context;
  redial::v1::EchoRequest request;
  request.set_text("signed hello");
  redial::v1::EchoResponse response;
  const grpc::Status status = stub->Unary(&context, request, &response);
  std::cout << (status.ok() ? response.text() : status.error_message()) << "\n";
  return status.ok() ? 0 : 1;
}
