#include "redial/grpc/retry_interceptor.h"

#include <grpc/support/log.h>

#include <utility>

#include "redial/core/inherited_deadline.h"
#include "redial/grpc/child_attempt.h"
#include "redial/grpc/private_access.h"
#include "redial/grpc/scoped_call_options.h"
#include "redial/grpc/unary_call.h"

namespace redial {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::ClientRpcInfo;
using grpc::experimental::Interceptor;

// The shell that gRPC owns and deletes with the ClientContext.
class RetryInterceptor final : public Interceptor {
 public:
  explicit RetryInterceptor(std::shared_ptr<UnaryCall> call)
      : call_(std::move(call)) {}
  ~RetryInterceptor() override { call_->Detach(); }

  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    call_->Intercept(methods);
  }

 private:
  const std::shared_ptr<UnaryCall> call_;
};

// A second redial on the same channel would multiply the attempts.
bool IsNested(ClientRpcInfo* info, const ChannelRuntime* runtime) {
  const bool nested =
      HasInterceptorAhead(info, [](const Interceptor* interceptor) {
        return dynamic_cast<const RetryInterceptor*>(interceptor) != nullptr;
      });
  if (nested) {
    gpr_log(GPR_ERROR,
            "redial: there are two redial layers on the channel to '%s'; the "
            "inner one does nothing",
            runtime->target().c_str());
  }
  return nested;
}

class WrappedFactory final : public ClientInterceptorFactoryInterface {
 public:
  WrappedFactory(std::unique_ptr<ClientInterceptorFactoryInterface> factory,
                 bool in_children)
      : factory_(std::move(factory)), in_children_(in_children) {}

  Interceptor* CreateClientInterceptor(ClientRpcInfo* info) override {
    if (!in_children_ && ChildBeingCreated(info) != nullptr) {
      return NewPassThrough();
    }
    Interceptor* const made = factory_->CreateClientInterceptor(info);
    return made != nullptr ? made : NewPassThrough();
  }

 private:
  const std::unique_ptr<ClientInterceptorFactoryInterface> factory_;
  const bool in_children_;
};

}  // namespace

Interceptor* RetryInterceptorFactory::NoInterceptor() const {
  return factories_behind_ ? NewPassThrough() : nullptr;
}

Interceptor* RetryInterceptorFactory::CreateClientInterceptor(
    ClientRpcInfo* info) {
  if (ChildAttempt* const child = ChildBeingCreated(info)) {
    return child->owner() == runtime_.get() ? NewChildPlaceholder(child)
                                            : NoInterceptor();
  }
  if (IsNested(info, runtime_.get())) return NoInterceptor();
  absl::optional<PendingCallOptions> options =
      TakeCallOptions(info->client_context());
  if (info->type() != ClientRpcInfo::Type::UNARY) return NoInterceptor();
  std::shared_ptr<const MethodEntry> entry = runtime_->Find(info->method());
  const InheritedDeadline* inherited = CurrentInheritedDeadline();
  if (inherited != nullptr && inherited->deadline.is_infinite() &&
      inherited->server_call == nullptr) {
    inherited = nullptr;
  }
  if (entry->policy == nullptr && !options.has_value() &&
      inherited == nullptr && !runtime_->closed().has_value()) {
    return NoInterceptor();
  }
  const bool interceptors_behind =
      factories_behind_ ||
      grpc::internal::g_global_client_interceptor_factory != nullptr;
  return new RetryInterceptor(std::make_shared<UnaryCall>(
      runtime_, std::move(entry), std::move(options), inherited,
      interceptors_behind, info));
}

std::unique_ptr<ClientInterceptorFactoryInterface> PerCallFactory(
    std::unique_ptr<ClientInterceptorFactoryInterface> factory) {
  return std::make_unique<WrappedFactory>(std::move(factory),
                                          /*in_children=*/false);
}

std::unique_ptr<ClientInterceptorFactoryInterface> PerAttemptFactory(
    std::unique_ptr<ClientInterceptorFactoryInterface> factory) {
  return std::make_unique<WrappedFactory>(std::move(factory),
                                          /*in_children=*/true);
}

}  // namespace redial
