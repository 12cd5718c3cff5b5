// The decision: what a finished attempt means for its call.
//
// Two pure functions, so that the throttle, which is shared, can be charged
// between them. The order is normative and stands only here:
//
//   Assess:  1 no policy
//            2 success (throttle and budget earn)
//            3 cancelled by the caller
//            4 the call's deadline has passed
//            5 stop-pushback (charges the throttle whatever the code)
//            6 class: the user's rules, the policy's codes, the defaults
//              (a retryable class charges the throttle)
//   Decide:  7 committed
//            8 not replayable
//            9 idempotency
//           10 attempts left, in all and per code or class
//           11 throttle
//           12 pushback or backoff gives the wait
//           13 a wait that does not fit is not begun (deadline, retry window)
//   machine 14 request budget and retry budget pay
//
// A call that no retry policy covers charges and earns nothing (1); the reason
// of its failure is still the cancel (3) or the deadline (4) where it was one.
//
// Idempotency stands before the count of attempts so that the reason a caller
// reads is the one that more attempts would not cure.
#ifndef REDIAL_CORE_DECISION_H_
#define REDIAL_CORE_DECISION_H_

#include <cstdint>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/attempt_ledger.h"
#include "redial/core/call_report.h"
#include "redial/core/instant.h"
#include "redial/core/outcome.h"
#include "redial/core/policy.h"
#include "redial/core/random_source.h"

namespace redial {

// What the machine knows about the call when an attempt has ended.
struct CallFacts {
  Instant now;
  Instant deadline = Instant::Infinite();
  // The retry window: the earlier of the policy's and the operation's.
  Instant window_end = Instant::Infinite();
  bool cancelled = false;
  // The request may be sent again although the server may have seen it.
  bool may_send_twice = false;
  int attempts_made = 1;
  // Of the backoff since the start or the last pushback.
  int64_t backoff_retries = 0;
  absl::Duration previous_backoff;
};

// Timers of transports round to milliseconds: an attempt that ends with
// DEADLINE_EXCEEDED this close to a deadline ended because of it.
inline constexpr absl::Duration DeadlineSlack() {
  return absl::Milliseconds(2);
}

struct Assessment {
  OutcomeClass outcome_class = OutcomeClass::kSuccess;
  bool chosen_by_owner = false;
  // Set where the call ends here (steps 1 to 6).
  absl::optional<StopReason> stop;
  bool throttle_success = false;
  bool throttle_failure = false;
};

Assessment Assess(const RetryPolicy* policy, const Outcome& outcome,
                  const CallFacts& facts);

struct Decision {
  bool retry = false;
  // Where not: why.
  StopReason stop = StopReason::kPermanent;
  // Where so: the wait before the next attempt.
  absl::Duration wait;
  WaitSource wait_from = WaitSource::kBackoff;
  // State of the backoff for the next decision.
  int64_t backoff_retries = 0;
  absl::Duration previous_backoff;
};

// `ledger` holds this attempt already. `throttle_allows`: after the charge.
Decision Decide(const RetryPolicy& policy, const Outcome& outcome,
                const Assessment& assessment, const CallFacts& facts,
                const AttemptLedger& ledger, bool throttle_allows,
                RandomSource& random);

}  // namespace redial

#endif  // REDIAL_CORE_DECISION_H_
