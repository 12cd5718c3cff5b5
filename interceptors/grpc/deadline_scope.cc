#include "redial/grpc/deadline_scope.h"

#include <grpc/grpc.h>

#include "redial/grpc/grpc_clock.h"

namespace redial {
namespace {

template <typename ServerContext>
InheritedDeadline FromServerCall(ServerContext& server_call,
                                 const DeadlineScope::Options& options) {
  InheritedDeadline inherited;
  inherited.deadline =
      InstantFromTimespec(server_call.raw_deadline()) - options.reserve;
  grpc_call* const call = server_call.c_call();
  if (options.inherit_cancellation && call != nullptr) {
    grpc_call_ref(call);
    inherited.server_call = std::shared_ptr<void>(call, [](void* held) {
      grpc_call_unref(static_cast<grpc_call*>(held));
    });
  }
  return inherited;
}

InheritedDeadline At(Instant deadline) {
  InheritedDeadline inherited;
  inherited.deadline = deadline;
  return inherited;
}

constexpr auto kCombine = InheritedDeadlineScope::Outer::kCombine;

}  // namespace

DeadlineScope::DeadlineScope(grpc::ServerContext& server_call)
    : DeadlineScope(server_call, Options()) {}

DeadlineScope::DeadlineScope(grpc::ServerContext& server_call,
                             const Options& options)
    : scope_(FromServerCall(server_call, options), kCombine) {}

DeadlineScope::DeadlineScope(grpc::CallbackServerContext& server_call)
    : DeadlineScope(server_call, Options()) {}

DeadlineScope::DeadlineScope(grpc::CallbackServerContext& server_call,
                             const Options& options)
    : scope_(FromServerCall(server_call, options), kCombine) {}

DeadlineScope::DeadlineScope(std::chrono::system_clock::time_point deadline)
    : scope_(
          At(InstantFromTimespec(
              grpc::TimePoint<std::chrono::system_clock::time_point>(deadline)
                  .raw_time())),
          kCombine) {}

DeadlineScope::DeadlineScope(absl::Duration time_left)
    : scope_(At(GrpcNow() + time_left), kCombine) {}

DeadlineOptOut::DeadlineOptOut()
    : scope_(InheritedDeadline(), InheritedDeadlineScope::Outer::kHide) {}

grpc_call* InheritedServerCall(const InheritedDeadline& inherited) {
  return static_cast<grpc_call*>(inherited.server_call.get());
}

}  // namespace redial
