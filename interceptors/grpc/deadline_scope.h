// DeadlineScope: calls made while a server call is handled inherit its deadline
// and its cancellation (features 3.3).
//
//   grpc::Status Handler(grpc::ServerContext* context, ...) {
//     redial::DeadlineScope scope(*context);
//     return stub_->Get(&client_context, request, response);  // inherits
//   }
//
// A scope belongs to the thread that opened it: open it in synchronous handlers
// (and in callbacks, for the calls that are made there and then). Scopes nest,
// the earlier deadline holds. Works for every call through redial on the
// thread, with or without a policy.
#ifndef REDIAL_GRPC_DEADLINE_SCOPE_H_
#define REDIAL_GRPC_DEADLINE_SCOPE_H_

#include <grpcpp/server_context.h>

#include <chrono>

#include "absl/time/time.h"
#include "redial/core/inherited_deadline.h"

namespace redial {

class DeadlineScope {
 public:
  struct Options {
    // Taken off the inherited deadline: time for the handler's own answer.
    absl::Duration reserve = absl::ZeroDuration();
    // The end of the server call ends attempts and waits made in the scope.
    bool inherit_cancellation = true;
  };

  // Deadline and cancellation of a server call.
  explicit DeadlineScope(grpc::ServerContext& server_call);
  DeadlineScope(grpc::ServerContext& server_call, const Options& options);
  explicit DeadlineScope(grpc::CallbackServerContext& server_call);
  DeadlineScope(grpc::CallbackServerContext& server_call,
                const Options& options);
  // A plain deadline.
  explicit DeadlineScope(std::chrono::system_clock::time_point deadline);
  explicit DeadlineScope(absl::Duration time_left);

 private:
  InheritedDeadlineScope scope_;
};

// Inside it nothing is inherited: for work that outlives the server call.
class DeadlineOptOut {
 public:
  DeadlineOptOut();

 private:
  InheritedDeadlineScope scope_;
};

// The server call in InheritedDeadline::server_call as this adapter puts it
// there: a counted reference to gRPC's call.
grpc_call* InheritedServerCall(const InheritedDeadline& inherited);

}  // namespace redial

#endif  // REDIAL_GRPC_DEADLINE_SCOPE_H_
