// RedialSettings: what a "redial" object of a service config says.
//
// The one at the top of the document gives the defaults of the ones in method
// configs: a method's settings are read over a copy of the top's, so that each
// key that is there replaces one value and inherits the rest. Problems go to
// the reader's list. Pure functions.
//
//   RedialSettings top = ReadRedialSettings(&object, {}, Scope::kDocument);
//   RedialSettings mine = ReadRedialSettings(&inner, top, Scope::kMethod);
//   ApplyRedialSettings(mine, &method_policy);
#ifndef REDIAL_CONFIG_REDIAL_SETTINGS_H_
#define REDIAL_CONFIG_REDIAL_SETTINGS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/config/retry_policy_reader.h"
#include "redial/core/backoff.h"
#include "redial/core/classifier.h"
#include "redial/core/idempotency.h"
#include "redial/core/policy.h"
#include "redial/core/retry_budget.h"

namespace redial {

enum class RedialScope { kDocument, kMethod };

// Each field is one key (proto/redial/v1/service_config.proto); what is not set
// keeps the default of MethodPolicy and RetryPolicy.
struct RedialSettings {
  // Methods only.
  absl::optional<OwnerRetry> retry;

  absl::optional<BackoffForm> backoff_form;
  absl::optional<double> backoff_jitter;
  // Infinite where it is given as "0s".
  absl::optional<absl::Duration> attempt_timeout;
  absl::optional<absl::Duration> retry_window;
  absl::optional<AttemptTimeoutRetry> attempt_timeout_retry;
  absl::optional<std::vector<ClassRule>> rules;
  absl::optional<std::vector<AttemptLimit>> attempt_limits;
  PushbackPolicy pushback;
  absl::optional<bool> headers_commit;
  absl::optional<size_t> max_retained_request_bytes;
  absl::optional<int> max_attempts_limit;
  absl::optional<Idempotency> idempotency;
  IdempotencyKeyPolicy key;
  absl::optional<std::string> previous_attempts_name;
  absl::optional<bool> inherit_deadline;
  absl::optional<absl::Duration> deadline_reserve;
  // The object of the document is shared by all methods without their own.
  std::shared_ptr<RetryBudget> retry_budget;
  absl::optional<bool> explain_in_message;
};

// Unknown keys are errors.
RedialSettings ReadRedialSettings(JsonObject* object, RedialSettings defaults,
                                  RedialScope scope);

// Sets the fields of `policy`, and of its retry policy where it has one. The
// clamp of max_attempts is not done here.
void ApplyRedialSettings(const RedialSettings& settings, MethodPolicy* policy);

}  // namespace redial

#endif  // REDIAL_CONFIG_REDIAL_SETTINGS_H_
