#include "redial/grpc/interceptor_stack.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "redial/grpc/channel_runtime.h"
#include "redial/grpc/private_access.h"
#include "redial/grpc/retry_interceptor.h"

namespace redial {

InterceptorStack::InterceptorStack(std::shared_ptr<const PolicyTable> policy,
                                   std::string target, ChannelOptions options)
    : InterceptorStack(std::make_shared<LivePolicy>(std::move(policy)),
                       std::move(target), std::move(options)) {}

InterceptorStack::InterceptorStack(std::shared_ptr<LivePolicy> policy,
                                   std::string target, ChannelOptions options)
    : target_(std::move(target)),
      options_(std::move(options)),
      policy_(std::move(policy)),
      runtime_(std::make_shared<ChannelRuntime>(target_, policy_, options_)) {}

InterceptorStack::~InterceptorStack() = default;

InterceptorStack& InterceptorStack::AddPerCall(
    std::unique_ptr<Factory> factory) {
  per_call_.push_back(PerCallFactory(std::move(factory)));
  ++per_call_count_;
  return *this;
}

InterceptorStack& InterceptorStack::AddPerAttempt(
    std::unique_ptr<Factory> factory) {
  per_attempt_.push_back(PerAttemptFactory(std::move(factory)));
  ++per_attempt_count_;
  return *this;
}

grpc::ChannelArguments InterceptorStack::ChannelArguments() const {
  grpc::ChannelArguments arguments(options_.arguments);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES,
                   options_.transparent_retries ? 1 : 0);
  if (!options_.resolver_service_config) {
    arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  }
  const std::shared_ptr<const PolicyTable> table = policy_->Load();
  if (table != nullptr) {
    arguments.SetServiceConfigJSON(
        table->core_config().empty() ? "{}" : table->core_config());
  }
  return arguments;
}

std::vector<std::unique_ptr<InterceptorStack::Factory>>
InterceptorStack::TakeFactories(bool others_behind) {
  std::vector<std::unique_ptr<Factory>> factories = std::move(per_call_);
  factories.push_back(std::make_unique<RetryInterceptorFactory>(
      runtime_, others_behind || !per_attempt_.empty()));
  for (std::unique_ptr<Factory>& factory : per_attempt_) {
    factories.push_back(std::move(factory));
  }
  per_call_.clear();
  per_attempt_.clear();
  return factories;
}

std::vector<std::unique_ptr<InterceptorStack::Factory>>
InterceptorStack::Factories() {
  return TakeFactories(/*others_behind=*/true);
}

std::shared_ptr<grpc::Channel> InterceptorStack::CreateChannel(
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      target_, credentials, ChannelArguments(),
      TakeFactories(/*others_behind=*/false));
}

std::string InterceptorStack::Describe() const {
  const bool native =
      options_.mode == DriverMode::kNativeFirst && HasPrivateAccess();
  return absl::StrCat(
      "channel to '", target_, "', from the application to the wire:\n",
      "  1. ", per_call_count_,
      " interceptor(s) of the application, once per call\n",
      "  2. redial: deadline, idempotency key, budgets, retry (first attempt ",
      native ? "native" : "owned", ")\n", "  3. ", per_attempt_count_,
      " interceptor(s) of the application, once per attempt\n",
      "  4. gRPC core, transparent retries ",
      options_.transparent_retries ? "on" : "off", "\n");
}

void InterceptorStack::Drain() { runtime_->Close(EndCause::kDrain); }

void InterceptorStack::Shutdown() { runtime_->Close(EndCause::kShutdown); }

bool InterceptorStack::AwaitIdle(absl::Duration timeout) {
  return runtime_->AwaitIdle(timeout);
}

}  // namespace redial
