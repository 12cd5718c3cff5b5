// Policies: what the owner of a service decided, as immutable values.
//
// A MethodPolicy holds everything that redial does for one method; a
// PolicyTable finds the one for a method name. config/ builds them from a
// service config; tests and programs may build them by hand. Policies are
// validated where they are built and never change afterwards: they are shared
// between threads and calls without a lock. The state that they name (retry
// budgets) is shared and thread-safe by itself.
#ifndef REDIAL_CORE_POLICY_H_
#define REDIAL_CORE_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/backoff.h"
#include "redial/core/classifier.h"
#include "redial/core/idempotency.h"
#include "redial/core/outcome.h"
#include "redial/core/retry_budget.h"

namespace redial {

// What to do with a delay that the server asked for (features 2.3).
struct PushbackPolicy {
  enum class Mode {
    kExact,    // wait exactly as long (A6)
    kAtLeast,  // the longer of the server's delay and the backoff
    kIgnore,   // read it (a stop is still a stop), do not wait for it
  };
  Mode grpc_pushback = Mode::kExact;
  Mode retry_info = Mode::kAtLeast;
  Mode retry_after = Mode::kAtLeast;
  // Beyond the cap the call gives up, or waits for the cap if `clamp`.
  // `grpc-retry-pushback-ms` has no cap (A6), unless `cap_grpc_pushback`.
  absl::Duration cap = absl::Minutes(5);
  bool clamp = false;
  bool cap_grpc_pushback = false;
  // A delay that stands where only its owner knows (a trailer of one's own, a
  // field of the error details): asked of failed attempts for which no other
  // source named one, and taken as Retry-After is. Must not block; a negative
  // delay counts as none.
  std::function<absl::optional<absl::Duration>(const Outcome&)> extractor;
};

// A limit on attempts that ended in one way: at most `max_attempts` attempts of
// a call may end so before it stops (features 4.1).
struct AttemptLimit {
  absl::optional<absl::StatusCode> code;
  absl::optional<OutcomeClass> outcome_class;
  int max_attempts = 1;
};

// Whether an attempt that our own timeout ended is retried (features 1.3).
enum class AttemptTimeoutRetry {
  kDefault,  // if DEADLINE_EXCEEDED is listed or the method is idempotent
  kAlways,
  kNever,
};

struct RetryPolicy {
  static constexpr int kUnlimitedAttempts = std::numeric_limits<int>::max();

  // Includes the first attempt.
  int max_attempts = 3;
  BackoffPolicy backoff;
  ClassifierPolicy classifier;
  std::vector<AttemptLimit> attempt_limits;
  AttemptTimeoutRetry attempt_timeout_retry = AttemptTimeoutRetry::kDefault;
  PushbackPolicy pushback;
  // Response headers commit a unary call (A6). False: only what reached the
  // caller does.
  bool headers_commit = true;
  // What is kept of a request for a retry. Above it the call is sent once.
  size_t max_retained_request_bytes = size_t{256} * 1024;
};

// Request metadata that tells the server how many attempts came before
// (features 5.2). An empty name switches it off.
inline constexpr char kPreviousAttemptsName[] = "redial-previous-attempts";
inline constexpr char kGrpcPreviousAttemptsName[] =
    "grpc-previous-rpc-attempts";

struct MethodPolicy {
  // Where it was written, for people: "methodConfig[2]" of the file.
  std::string origin;

  // Absent: nothing is retried; timeout, key and the rest still hold.
  absl::optional<RetryPolicy> retry;

  // Of the whole call, from its start (features 3.1). Infinite = none.
  absl::Duration timeout = absl::InfiniteDuration();
  // Of each attempt, cut to the time left (3.2). Infinite = none.
  absl::Duration attempt_timeout = absl::InfiniteDuration();
  // No attempt and no wait begins after it (3.4). Infinite = none.
  absl::Duration retry_window = absl::InfiniteDuration();

  // Inside a server handler calls inherit the inbound deadline, minus the
  // reserve (3.3).
  bool inherit_deadline = true;
  absl::Duration deadline_reserve = absl::ZeroDuration();

  // What config says; the method's own descriptor goes before it (1.5).
  Idempotency idempotency = Idempotency::kUnknown;
  IdempotencyKeyPolicy key;

  std::string previous_attempts_name = kPreviousAttemptsName;

  // Shared state, null = none.
  std::shared_ptr<RetryBudget> retry_budget;

  // The reason for stopping, attempts and time appended to the message of a
  // failed call (6.1).
  bool explain_in_message = false;
};

// retryThrottling of A6, in thousandths of a token.
struct ThrottleParameters {
  int64_t max_milli_tokens = 0;
  int64_t milli_token_ratio = 0;

  friend bool operator==(const ThrottleParameters& a,
                         const ThrottleParameters& b) {
    return a.max_milli_tokens == b.max_milli_tokens &&
           a.milli_token_ratio == b.milli_token_ratio;
  }
};

}  // namespace redial

#endif  // REDIAL_CORE_POLICY_H_
