// The parts of a service config that gRFC A6 defines: retryPolicy,
// hedgingPolicy, retryThrottling.
//
// Pure functions over a JsonReader; problems go to its list, and a result with
// problems is not for use.
//
//   absl::optional<OwnerRetry> retry = ReadRetryPolicy(reader, dialect);
#ifndef REDIAL_CONFIG_RETRY_POLICY_READER_H_
#define REDIAL_CONFIG_RETRY_POLICY_READER_H_

#include <cstdint>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/config/service_config_options.h"
#include "redial/core/policy.h"

namespace redial {

// A6: maxAttempts above 5 is treated as 5, unless the client says otherwise.
inline constexpr int kMaxAttemptsLimit = 5;

// A retry policy as its owner wrote it, in either of the two spellings.
struct OwnerRetry {
  RetryPolicy policy;
  // perAttemptRecvTimeout of a retryPolicy.
  absl::optional<absl::Duration> attempt_timeout;
  // The limit that holds where no maxAttemptsLimit is set.
  int attempts_limit = RetryPolicy::kUnlimitedAttempts;
  // gapic only: it lists no code, which means that nothing is retried.
  bool retries_nothing = false;
};

// methodConfig[].retryPolicy (A6). kGapic: maxAttempts may be left out (no
// limit but the time), the codes too (nothing is retried).
absl::optional<OwnerRetry> ReadRetryPolicy(const JsonReader& reader,
                                           ServiceConfigDialect dialect);

// methodConfig[].redial.retry: the same keys, all optional, with redial's
// defaults (three attempts, full jitter, classes in the place of codes).
absl::optional<OwnerRetry> ReadRedialRetry(const JsonReader& reader);

// methodConfig[].hedgingPolicy (A6): checked only, and a warning that hedging
// is not done.
void CheckHedgingPolicy(const JsonReader& reader);

// retryThrottling (A6).
absl::optional<ThrottleParameters> ReadRetryThrottling(
    const JsonReader& reader);

}  // namespace redial

#endif  // REDIAL_CONFIG_RETRY_POLICY_READER_H_
