// InterceptorStack: redial's layers, and the user's around them, for one
// channel.
//
//   redial::InterceptorStack stack(*policy, "greeter:443");
//   stack.AddPerAttempt(std::make_unique<MyAuthFactory>());
//   auto channel = grpc::experimental::CreateCustomChannelWithInterceptors(
//       "greeter:443", credentials, stack.ChannelArguments(),
//       stack.Factories());
//
// From the outside in: the user's once-per-call interceptors, redial (deadline,
// idempotency key, budgets, retry), the user's once-per-attempt interceptors,
// the wire. Inside each mark the first added runs first.
//
// Adding and Factories() are for one thread, before the channel is used; the
// rest is thread-safe. The stack may be destroyed at any time: its channel
// keeps what it needs.
#ifndef REDIAL_GRPC_INTERCEPTOR_STACK_H_
#define REDIAL_GRPC_INTERCEPTOR_STACK_H_

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "redial/core/policy_table.h"
#include "redial/grpc/channel_options.h"

namespace redial {

class ChannelRuntime;

class InterceptorStack {
 public:
  using Factory = grpc::experimental::ClientInterceptorFactoryInterface;

  // `target` names the channel in reports and logs, and is the server name of
  // A6's throttling unless the options name another.
  InterceptorStack(std::shared_ptr<const PolicyTable> policy,
                   std::string target = "", ChannelOptions options = {});
  // The policy can be exchanged while calls run (features 7.5). What it leaves
  // to gRPC core is that of the table at this moment.
  InterceptorStack(std::shared_ptr<LivePolicy> policy, std::string target = "",
                   ChannelOptions options = {});
  ~InterceptorStack();

  InterceptorStack(const InterceptorStack&) = delete;
  InterceptorStack& operator=(const InterceptorStack&) = delete;

  // Sees each call once, however many attempts it takes.
  InterceptorStack& AddPerCall(std::unique_ptr<Factory> factory);
  // Runs again for each attempt: credentials, tracing. It sees the request in
  // serialized form on attempts that redial makes, and runs on threads of
  // gRPC's then: neither it nor its factory may block.
  InterceptorStack& AddPerAttempt(std::unique_ptr<Factory> factory);

  // The options' arguments with redial's: the service config that remains for
  // core, no service config from a resolver, core's transparent retries.
  grpc::ChannelArguments ChannelArguments() const;
  // In order; takes the user's factories out, so call it once. Factories of
  // one's own may be put behind them; in front of them only through AddPerCall,
  // else they run for each attempt.
  std::vector<std::unique_ptr<Factory>> Factories();
  // Both together.
  std::shared_ptr<grpc::Channel> CreateChannel(
      const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // The layers in order, a line each.
  std::string Describe() const;

  // Waits end now with their last failure, nothing is retried any more, new
  // calls are refused with UNAVAILABLE; attempts in flight may finish.
  void Drain();
  // The same, and attempts that redial made are cancelled. An application's own
  // call in flight ends by its own deadline.
  void Shutdown();
  // Until every call through the stack has ended; false after `timeout`.
  bool AwaitIdle(absl::Duration timeout);

 private:
  std::vector<std::unique_ptr<Factory>> TakeFactories(bool others_behind);

  const std::string target_;
  const ChannelOptions options_;
  const std::shared_ptr<LivePolicy> policy_;
  const std::shared_ptr<ChannelRuntime> runtime_;
  std::vector<std::unique_ptr<Factory>> per_call_;
  std::vector<std::unique_ptr<Factory>> per_attempt_;
  size_t per_call_count_ = 0;
  size_t per_attempt_count_ = 0;
};

}  // namespace redial

#endif  // REDIAL_GRPC_INTERCEPTOR_STACK_H_
