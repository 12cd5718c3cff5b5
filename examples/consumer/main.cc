// Built in a workspace of its own, as a user of redial would.

#include <grpcpp/grpcpp.h>

#include <iostream>

#include "redial/config/service_config.h"
#include "redial/core/call_options.h"
#include "redial/grpc/interceptor_stack.h"
#include "redial/grpc/scoped_call_options.h"

int main() {
  auto policy = redial::ServiceConfig::FromJson(R"({
    "methodConfig": [ {
      "name": [ {} ],
      "retryPolicy": { "maxAttempts": 3, "initialBackoff": "0.1s",
                       "maxBackoff": "1s", "backoffMultiplier": 2,
                       "retryableStatusCodes": [ "UNAVAILABLE" ] }
    } ]
  })");
  if (!policy.ok()) {
    std::cerr << policy.status().message() << "\n";
    return 1;
  }
  redial::InterceptorStack stack(*policy, "localhost:1");
  std::cout << stack.Describe();
  auto channel = stack.CreateChannel(grpc::InsecureChannelCredentials());

  grpc::ClientContext context;
  const redial::ScopedCallOptions scoped(
      context, redial::CallOptions().set_max_attempts(1));
  return channel != nullptr ? 0 : 1;
}
