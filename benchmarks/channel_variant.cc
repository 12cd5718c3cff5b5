#include "benchmarks/channel_variant.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redial/core/call_observer.h"
#include "redial/core/policy.h"
#include "redial/core/policy_table.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/channel_options.h"

namespace redial {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using Factories =
    std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>>;

constexpr char kService[] = "redial.v1.Echo";

// What MatchingPolicy() says, for core.
constexpr char kCoreRetryPolicy[] = R"({"methodConfig": [{
  "name": [{"service": "redial.v1.Echo"}],
  "retryPolicy": {
    "maxAttempts": 4,
    "initialBackoff": "0.01s",
    "maxBackoff": "1s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"]
  }
}]})";

MethodPolicy MatchingPolicy() {
  MethodPolicy policy;
  policy.retry.emplace();
  policy.retry->max_attempts = 4;
  policy.retry->backoff.form = BackoffForm::kProportional;
  policy.retry->backoff.base = absl::Milliseconds(10);
  policy.retry->backoff.max = absl::Seconds(1);
  policy.retry->classifier.retryable_codes =
      CodeSet{absl::StatusCode::kUnavailable};
  return policy;
}

std::shared_ptr<const PolicyTable> TableFor(absl::string_view service,
                                            MethodPolicy policy) {
  auto table = std::make_shared<PolicyTable>();
  table->Add(service, "",
             std::make_shared<const MethodPolicy>(std::move(policy)));
  return table;
}

// Whether core's retry filter is in the channel.
enum class CoreFilter { kOff, kOn };

std::shared_ptr<grpc::Channel> PlainChannel(const std::string& target,
                                            grpc::ChannelArguments arguments,
                                            Factories factories) {
  if (factories.empty()) {
    return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(),
                                     arguments);
  }
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      target, grpc::InsecureChannelCredentials(), arguments,
      std::move(factories));
}

std::shared_ptr<grpc::Channel> Bare(const std::string& target,
                                    Factories factories = {}) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return PlainChannel(target, std::move(arguments), std::move(factories));
}

std::shared_ptr<grpc::Channel> CorePolicy(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(kCoreRetryPolicy);
  return PlainChannel(target, std::move(arguments), {});
}

std::shared_ptr<grpc::Channel> WithRedial(
    const std::string& target, std::shared_ptr<const PolicyTable> table,
    CoreFilter filter = CoreFilter::kOff, ChannelOptions options = {}) {
  options.transparent_retries = filter == CoreFilter::kOn;
  return CreateChannel(target, grpc::InsecureChannelCredentials(),
                       std::move(table), std::move(options));
}

class PassingInterceptor final : public grpc::experimental::Interceptor {
 public:
  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    methods->Proceed();
  }
};

class PassingFactory final : public ClientInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new PassingInterceptor;
  }
};

Factories OnePassingFactory() {
  Factories factories;
  factories.push_back(std::make_unique<PassingFactory>());
  return factories;
}

std::shared_ptr<grpc::Channel> WithKey(const std::string& target) {
  MethodPolicy policy = MatchingPolicy();
  policy.key.generate = true;
  return WithRedial(target, TableFor(kService, std::move(policy)));
}

std::shared_ptr<grpc::Channel> WithAttemptTimeout(const std::string& target) {
  MethodPolicy policy = MatchingPolicy();
  policy.attempt_timeout = absl::Seconds(2);
  return WithRedial(target, TableFor(kService, std::move(policy)));
}

std::shared_ptr<grpc::Channel> WithThrottle(const std::string& target) {
  PolicyTable table;
  table.Add(kService, "",
            std::make_shared<const MethodPolicy>(MatchingPolicy()));
  table.set_throttle({/*max_milli_tokens=*/10000, /*milli_token_ratio=*/100});
  return WithRedial(target, std::make_shared<PolicyTable>(std::move(table)));
}

// Sees everything, does nothing.
class IdleObserver final : public CallObserver {};

std::shared_ptr<grpc::Channel> WithObserver(const std::string& target) {
  ChannelOptions options;
  options.observer = std::make_shared<IdleObserver>();
  return WithRedial(target, TableFor(kService, MatchingPolicy()),
                    CoreFilter::kOff, std::move(options));
}

std::shared_ptr<grpc::Channel> Owned(const std::string& target) {
  ChannelOptions options;
  options.mode = DriverMode::kAlwaysOwned;
  return WithRedial(target, TableFor(kService, MatchingPolicy()),
                    CoreFilter::kOff, std::move(options));
}

std::vector<ChannelVariant> MakeVariants() {
  return {
      {"bare", [](const std::string& target) { return Bare(target); }},
      {"default",
       [](const std::string& target) {
         return grpc::CreateChannel(target, grpc::InsecureChannelCredentials());
       }},
      {"core_policy", CorePolicy},
      {"redial",
       [](const std::string& target) {
         return WithRedial(target, TableFor(kService, MatchingPolicy()));
       }},
      {"redial_core_filter_on",
       [](const std::string& target) {
         return WithRedial(target, TableFor(kService, MatchingPolicy()),
                           CoreFilter::kOn);
       }},
      {"redial_owned", Owned},
      {"redial_no_policy",
       [](const std::string& target) {
         return WithRedial(target,
                           TableFor("redial.v1.Another", MatchingPolicy()));
       }},
      {"passing_interceptor",
       [](const std::string& target) {
         return Bare(target, OnePassingFactory());
       }},
      {"passing_core_filter_on",
       [](const std::string& target) {
         return PlainChannel(target, grpc::ChannelArguments(),
                             OnePassingFactory());
       }},
      {"redial_key", WithKey},
      {"redial_attempt_timeout", WithAttemptTimeout},
      {"redial_throttle", WithThrottle},
      {"redial_observer", WithObserver},
  };
}

}  // namespace

const std::vector<ChannelVariant>& ChannelVariants() {
  static const auto* const variants =
      new std::vector<ChannelVariant>(MakeVariants());
  return *variants;
}

const ChannelVariant* FindVariant(absl::string_view name) {
  const std::vector<ChannelVariant>& variants = ChannelVariants();
  const auto found =
      std::find_if(variants.begin(), variants.end(),
                   [name](const ChannelVariant& v) { return v.name == name; });
  return found != variants.end() ? &*found : nullptr;
}

}  // namespace redial
