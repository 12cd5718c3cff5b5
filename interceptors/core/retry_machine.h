// RetryMachine: the CallMachine that makes one attempt at a time.
//
// The only place where retries are decided for a call (decision.h), where
// budgets are charged, and where deadlines, attempt timeouts and the retry
// window are combined. Embedded by value in an adapter's call: a call that
// succeeds at once allocates nothing here.
#ifndef REDIAL_CORE_RETRY_MACHINE_H_
#define REDIAL_CORE_RETRY_MACHINE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/attempt_ledger.h"
#include "redial/core/call_machine.h"
#include "redial/core/call_report.h"
#include "redial/core/decision.h"
#include "redial/core/idempotency.h"
#include "redial/core/instant.h"
#include "redial/core/operation.h"
#include "redial/core/policy.h"
#include "redial/core/random_source.h"
#include "redial/core/throttle.h"

namespace redial {

// What a call brings along.
struct CallSetup {
  // Null: nothing is retried and nothing limited.
  std::shared_ptr<const MethodPolicy> policy;
  // Null where none is configured.
  std::shared_ptr<RetryThrottle> throttle;
  std::shared_ptr<Operation> operation;
  // Must outlive the machine.
  RandomSource* random = nullptr;
  // The start of the call: the config's timeout and the window count from it.
  Instant start;
  // The caller's own deadline, as it was set on the call.
  Instant caller_deadline = Instant::Infinite();
  // Of the server call being served, before the reserve is taken off.
  Instant inherited_deadline = Instant::Infinite();
  // From the method's own descriptor.
  Idempotency idempotency = Idempotency::kUnknown;
  // The call's options said so, whatever the descriptor says.
  absl::optional<bool> idempotent_override;
  bool has_idempotency_key = false;
  // Not OK: nothing is sent and this is the answer (a key that cannot be sent,
  // say).
  absl::Status refused;
};

class RetryMachine final : public CallMachine {
 public:
  explicit RetryMachine(CallSetup&& setup);
  // Gives back what a budget holds for this call.
  ~RetryMachine() override;

  RetryMachine(const RetryMachine&) = delete;
  RetryMachine& operator=(const RetryMachine&) = delete;

  void Start(Instant now, Actions* actions) override;
  void AttemptDone(int number, const Outcome& outcome, Instant now,
                   Actions* actions) override;
  void Committed(int number) override;
  void Wake(Instant now, Actions* actions) override;
  void End(EndCause cause, Instant now, Actions* actions) override;

  bool finished() const override { return state_ == State::kFinished; }
  Instant deadline() const override { return deadline_; }
  CallReport Report(Instant now) const override;

  bool may_send_twice() const { return may_send_twice_; }
  const AttemptLedger& ledger() const { return ledger_; }
  // Whether a failed attempt can lead to another one at all: if not, an adapter
  // need not keep the request.
  bool may_retry() const;
  // What an adapter needs of the policy.
  size_t max_retained_request_bytes() const;
  const std::string& previous_attempts_name() const;
  bool explain_in_message() const;
  // Whether anybody counts by the time at which the call ends.
  bool counts_time() const { return budget_entered_; }

 private:
  enum class State { kIdle, kAttempt, kWaiting, kFinished };

  const RetryPolicy* retry_policy() const;
  Instant window_end() const;
  void BeginAttempt(AttemptKind kind, Instant now, Actions* actions);
  // Writes the attempt down and charges the throttle; whether that allows a
  // retry.
  bool RecordEnd(int number, const Outcome& outcome,
                 const Assessment& assessment, Instant now);
  // `attempt` 0: `status` is the answer.
  void DoFinish(int attempt, StopReason reason, absl::Status status,
                Instant now, Actions* actions);
  void FinishEnded(Instant now, Actions* actions);
  void GiveBackRequest();
  void ReleaseRetry();

  const CallSetup setup_;
  const bool may_send_twice_;
  const Instant deadline_;

  State state_ = State::kIdle;
  absl::optional<EndCause> ended_;
  bool committed_ = false;
  bool budget_entered_ = false;   // CallStarted was told, CallEnded not yet
  bool retry_withdrawn_ = false;  // the budget holds one retry for us
  int attempts_ = 0;
  Instant attempt_deadline_ = Instant::Infinite();
  int64_t backoff_retries_ = 0;
  absl::Duration previous_backoff_;
  // The wait that was decided before the next attempt.
  absl::Duration pending_wait_;
  WaitSource pending_wait_from_ = WaitSource::kNone;

  AttemptLedger ledger_;
  // Of the last attempt that ended.
  OutcomeClass last_class_ = OutcomeClass::kSuccess;
  absl::Status last_failure_;
  absl::optional<absl::Duration> last_retry_after_;
  StopReason stop_reason_ = StopReason::kSuccess;
  absl::StatusCode final_code_ = absl::StatusCode::kOk;
  Instant finished_at_;
};

}  // namespace redial

#endif  // REDIAL_CORE_RETRY_MACHINE_H_
