// CallReport: what happened to one call, attempt by attempt (features 6.2).
//
// Filled before the caller is told the result. A plain value, copied out of
// the call's ledger.
#ifndef REDIAL_CORE_CALL_REPORT_H_
#define REDIAL_CORE_CALL_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/classifier.h"
#include "redial/core/outcome.h"

namespace redial {

enum class AttemptKind { kFirst, kRetry, kHedge };

// Why a call ended as it did.
enum class StopReason {
  kSuccess,
  kPermanent,
  kNotIdempotent,
  kAttemptsExhausted,
  kDeadline,
  kCancelled,
  kPushbackStop,
  kPushbackTooLong,
  kThrottled,
  kBudgetExhausted,
  kRequestBudget,
  kRetryWindow,
  kCommitted,
  kNotReplayable,
  kUnknownMessageType,
  kNoPolicy,
  kRejected,
  kShutdown,
};

struct AttemptRecord {
  int number = 1;
  AttemptKind kind = AttemptKind::kFirst;
  absl::StatusCode code = absl::StatusCode::kOk;
  int http_status = 0;
  OutcomeClass outcome_class = OutcomeClass::kSuccess;
  // The wait that was decided before this attempt, and where it came from.
  absl::Duration wait;
  WaitSource wait_from = WaitSource::kNone;
  // Measured, from the start of the call.
  absl::Duration start;
  absl::Duration end;
};

struct CallReport {
  std::string method;
  StopReason stop_reason = StopReason::kSuccess;
  // The code that the caller sees.
  absl::StatusCode code = absl::StatusCode::kOk;
  absl::Duration elapsed;
  std::vector<AttemptRecord> attempts;
  // What the server asked for in the last answer.
  absl::optional<absl::Duration> retry_after;
  // Trying again later cannot help either.
  bool permanent = false;
  // The key that was sent, empty if none.
  std::string idempotency_key;

  // One line for a log: no metadata values, no messages, no key.
  //   "UNAVAILABLE after 3 attempts in 1.2s: attempts exhausted"
  std::string Summary() const;
};

// The names of scenario.md and of logs: "ATTEMPTS_EXHAUSTED", "RETRY",
// "TRANSIENT", "BACKOFF", "UNAVAILABLE".
absl::string_view StopReasonName(StopReason reason);
absl::string_view AttemptKindName(AttemptKind kind);
absl::string_view OutcomeClassName(OutcomeClass outcome_class);
absl::string_view WaitSourceName(WaitSource source);
// "UNAVAILABLE", "INVALID_ARGUMENT", ..., for all 17 codes.
absl::string_view CodeName(absl::StatusCode code);
// The inverse, without regard to case; none for other text.
absl::optional<absl::StatusCode> CodeFromName(absl::string_view name);
// "attempts exhausted": the reason in words.
absl::string_view StopReasonText(StopReason reason);

}  // namespace redial

#endif  // REDIAL_CORE_CALL_REPORT_H_
