// CallOptions: settings of one call (features 7.1: config < client < call).
//
// Each option that is set replaces one field of the method's policy and leaves
// the rest. Options are plain values; how they reach a call is the transport's
// (ScopedCallOptions for gRPC).
//
//   CallOptions options;
//   options.set_max_attempts(2).set_idempotency_key("build-8812");
#ifndef REDIAL_CORE_CALL_OPTIONS_H_
#define REDIAL_CORE_CALL_OPTIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/backoff.h"
#include "redial/core/classifier.h"
#include "redial/core/operation.h"
#include "redial/core/policy.h"

namespace redial {

class CallOptions {
 public:
  // At least 1; includes the first attempt. 1 switches retries off.
  CallOptions& set_max_attempts(int attempts);
  // 0 or infinite: none.
  CallOptions& set_attempt_timeout(absl::Duration timeout);
  // Of the whole call, from its start. The earlier of this, the transport's
  // own deadline and the inherited one holds; it replaces the config's.
  // Infinite: none. Zero or less: expired already, so nothing is sent.
  CallOptions& set_timeout(absl::Duration timeout);
  // No attempt and no wait begins after it. Infinite: none.
  CallOptions& set_retry_window(absl::Duration window);
  // Sent with every attempt, replaces a generated key.
  CallOptions& set_idempotency_key(std::string key);
  // The caller knows better than descriptor and config.
  CallOptions& set_idempotent(bool idempotent);
  CallOptions& set_backoff(BackoffPolicy backoff);
  CallOptions& set_classifier(ClassifierPolicy classifier);
  CallOptions& set_operation(std::shared_ptr<Operation> operation);
  CallOptions& set_retry_budget(std::shared_ptr<RetryBudget> budget);
  // Out of the inherited deadline, for work that outlives the handler.
  CallOptions& set_inherit_deadline(bool inherit);

  const absl::optional<std::string>& idempotency_key() const {
    return idempotency_key_;
  }
  const std::shared_ptr<Operation>& operation() const { return operation_; }
  const absl::optional<bool>& idempotent() const { return idempotent_; }

  // The policy with the options that are set in the place of its fields.
  // Options that need a retry policy (attempts above 1, backoff) make one with
  // the default classes where the method has none. `base` may be null.
  std::shared_ptr<const MethodPolicy> ApplyTo(
      const std::shared_ptr<const MethodPolicy>& base) const;

 private:
  absl::optional<int> max_attempts_;
  absl::optional<absl::Duration> attempt_timeout_;
  absl::optional<absl::Duration> timeout_;
  absl::optional<absl::Duration> retry_window_;
  absl::optional<std::string> idempotency_key_;
  absl::optional<bool> idempotent_;
  absl::optional<BackoffPolicy> backoff_;
  absl::optional<ClassifierPolicy> classifier_;
  absl::optional<bool> inherit_deadline_;
  std::shared_ptr<Operation> operation_;
  std::shared_ptr<RetryBudget> retry_budget_;
};

}  // namespace redial

#endif  // REDIAL_CORE_CALL_OPTIONS_H_
