// ScopedCallOptions: options for the next call made with a ClientContext, and
// its report.
//
//   grpc::ClientContext context;
//   CallReport report;
//   ScopedCallOptions scoped(context, CallOptions().set_max_attempts(1),
//                            &report);
//   stub->Get(&context, request, &response);
//   // report.attempts, report.stop_reason, ...
//
// The call takes the options when it is created, on whatever thread; what is
// left is erased with the scope, so that a stale entry never reaches another
// call at the same address. The report is filled before the caller is told the
// result and must outlive the call (not the scope). A report is also filled for
// methods without a policy.
#ifndef REDIAL_GRPC_SCOPED_CALL_OPTIONS_H_
#define REDIAL_GRPC_SCOPED_CALL_OPTIONS_H_

#include <grpcpp/client_context.h>

#include "absl/types/optional.h"
#include "redial/core/call_options.h"
#include "redial/core/call_report.h"

namespace redial {

struct PendingCallOptions {
  CallOptions options;
  CallReport* report = nullptr;
};

class ScopedCallOptions {
 public:
  ScopedCallOptions(const grpc::ClientContext& context, CallOptions options,
                    CallReport* report = nullptr);
  // A report alone.
  ScopedCallOptions(const grpc::ClientContext& context, CallReport* report)
      : ScopedCallOptions(context, CallOptions(), report) {}
  ~ScopedCallOptions();

  ScopedCallOptions(const ScopedCallOptions&) = delete;
  ScopedCallOptions& operator=(const ScopedCallOptions&) = delete;

 private:
  const grpc::ClientContext* const context_;
};

// What was left for `context`, once. For the call's creation.
absl::optional<PendingCallOptions> TakeCallOptions(
    const grpc::ClientContext* context);

}  // namespace redial

#endif  // REDIAL_GRPC_SCOPED_CALL_OPTIONS_H_
