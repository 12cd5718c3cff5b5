#include "redial/core/retry_machine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace redial {
namespace {

bool IdempotentCall(const CallSetup& setup) {
  if (setup.idempotent_override.has_value()) return *setup.idempotent_override;
  return MaySendTwice(setup.idempotency,
                      setup.policy != nullptr ? setup.policy->idempotency
                                              : Idempotency::kUnknown,
                      setup.has_idempotency_key);
}

Instant CallDeadline(const CallSetup& setup) {
  Instant deadline = setup.caller_deadline;
  const MethodPolicy* policy = setup.policy.get();
  if (policy == nullptr) return std::min(deadline, setup.inherited_deadline);
  deadline = std::min(deadline, setup.start + policy->timeout);
  if (policy->inherit_deadline) {
    deadline =
        std::min(deadline, setup.inherited_deadline - policy->deadline_reserve);
  }
  return deadline;
}

// What the policy's own extractor finds, where nothing else named a delay.
void ExtractPushback(const RetryPolicy& policy, Outcome* outcome) {
  if (!policy.pushback.extractor || outcome->ok() ||
      outcome->pushback.kind != Pushback::Kind::kNone) {
    return;
  }
  const absl::optional<absl::Duration> delay =
      policy.pushback.extractor(*outcome);
  if (!delay.has_value() || *delay < absl::ZeroDuration()) return;
  outcome->pushback.kind = Pushback::Kind::kDelay;
  outcome->pushback.delay = *delay;
  outcome->pushback.source = WaitSource::kRetryAfter;
}

// "; last attempt: UNAVAILABLE: disk full", or nothing.
std::string LastAttempt(const absl::Status& failure) {
  if (failure.ok()) return std::string();
  return absl::StrCat("; last attempt: ", CodeName(failure.code()), ": ",
                      failure.message());
}

}  // namespace

RetryMachine::RetryMachine(CallSetup&& setup)
    : setup_(std::move(setup)),
      may_send_twice_(IdempotentCall(setup_)),
      deadline_(CallDeadline(setup_)) {
  ledger_.CallStarted(setup_.start);
}

RetryMachine::~RetryMachine() {
  // Only a call that its adapter dropped before the end gets here unfinished.
  GiveBackRequest();
  ReleaseRetry();
  if (budget_entered_) {
    setup_.policy->retry_budget->CallEnded(false, setup_.start);
  }
}

const RetryPolicy* RetryMachine::retry_policy() const {
  return setup_.policy != nullptr && setup_.policy->retry.has_value()
             ? &*setup_.policy->retry
             : nullptr;
}

bool RetryMachine::may_retry() const {
  return retry_policy() != nullptr && retry_policy()->max_attempts > 1;
}

size_t RetryMachine::max_retained_request_bytes() const {
  return retry_policy() != nullptr ? retry_policy()->max_retained_request_bytes
                                   : 0;
}

const std::string& RetryMachine::previous_attempts_name() const {
  static const std::string* const kNoName = new std::string;
  return setup_.policy != nullptr ? setup_.policy->previous_attempts_name
                                  : *kNoName;
}

bool RetryMachine::explain_in_message() const {
  return setup_.policy != nullptr && setup_.policy->explain_in_message;
}

Instant RetryMachine::window_end() const {
  Instant end = Instant::Infinite();
  if (setup_.policy != nullptr) {
    end = setup_.start + setup_.policy->retry_window;
  }
  if (setup_.operation != nullptr) {
    end = std::min(end, setup_.operation->window_end());
  }
  return end;
}

void RetryMachine::Start(Instant now, Actions* actions) {
  if (state_ != State::kIdle) return;
  if (ended_.has_value()) return FinishEnded(now, actions);
  if (!setup_.refused.ok()) {
    const StopReason reason =
        setup_.refused.code() == absl::StatusCode::kInvalidArgument
            ? StopReason::kPermanent
            : StopReason::kRejected;
    if (reason == StopReason::kPermanent) {
      last_class_ = OutcomeClass::kPermanent;
    }
    return DoFinish(0, reason, setup_.refused, now, actions);
  }
  if (now >= deadline_) {
    return DoFinish(0, StopReason::kDeadline,
                    absl::DeadlineExceededError(
                        "the deadline had passed already: no attempt was made"),
                    now, actions);
  }
  if (setup_.operation != nullptr) {
    setup_.operation->CallStarted(now);
    if (now > setup_.operation->window_end()) {
      return DoFinish(
          0, StopReason::kRetryWindow,
          absl::DeadlineExceededError("the retry window of the operation is "
                                      "over: no attempt was made"),
          now, actions);
    }
    if (!setup_.operation->TryTake()) {
      return DoFinish(
          0, StopReason::kRequestBudget,
          absl::ResourceExhaustedError(absl::StrCat(
              "request budget of ", setup_.operation->max_requests(), " used")),
          now, actions);
    }
  }
  if (setup_.policy != nullptr && setup_.policy->retry_budget != nullptr) {
    budget_entered_ = true;
    setup_.policy->retry_budget->CallStarted(now);
  }
  BeginAttempt(AttemptKind::kFirst, now, actions);
}

void RetryMachine::BeginAttempt(AttemptKind kind, Instant now,
                                Actions* actions) {
  state_ = State::kAttempt;
  ++attempts_;
  StartAttempt start;
  start.number = attempts_;
  start.kind = kind;
  start.deadline = deadline_;
  attempt_deadline_ = Instant::Infinite();
  if (setup_.policy != nullptr) {
    const Instant own_limit = now + setup_.policy->attempt_timeout;
    if (own_limit < deadline_) {
      attempt_deadline_ = own_limit;
      start.deadline = own_limit;
      start.timeout = setup_.policy->attempt_timeout;
    }
  }
  ledger_.AttemptStarted(attempts_, kind, pending_wait_, pending_wait_from_,
                         now);
  actions->push_back(start);
}

void RetryMachine::AttemptDone(int number, const Outcome& reported, Instant now,
                               Actions* actions) {
  if (state_ != State::kAttempt || number != attempts_) return;
  ReleaseRetry();
  const RetryPolicy* policy = retry_policy();
  if (reported.ok()) {
    // Step 2 of the decision: nothing else of the call matters.
    RecordEnd(number, reported, Assess(policy, reported, CallFacts()), now);
    return DoFinish(number, StopReason::kSuccess, absl::OkStatus(), now,
                    actions);
  }
  Outcome outcome = reported;
  if (outcome.code == absl::StatusCode::kDeadlineExceeded &&
      now + DeadlineSlack() >= attempt_deadline_) {
    outcome.attempt_timed_out = true;
  }
  if (committed_) outcome.handed_over = true;
  if (policy != nullptr) ExtractPushback(*policy, &outcome);

  CallFacts facts;
  facts.now = now;
  facts.deadline = deadline_;
  facts.window_end = window_end();
  // A drain cuts nothing off; every other cause does.
  facts.cancelled = ended_.has_value() && *ended_ != EndCause::kDrain;
  facts.may_send_twice = may_send_twice_;
  facts.attempts_made = attempts_;
  facts.backoff_retries = backoff_retries_;
  facts.previous_backoff = previous_backoff_;

  Assessment assessment = Assess(policy, outcome, facts);
  if (assessment.outcome_class == OutcomeClass::kCancelled &&
      ended_ == EndCause::kParentDeadline) {
    assessment.outcome_class = OutcomeClass::kDeadline;
  }
  const bool throttle_allows = RecordEnd(number, outcome, assessment, now);
  last_failure_ = absl::Status(outcome.code, outcome.message);
  if (facts.cancelled) return FinishEnded(now, actions);
  if (assessment.stop.has_value()) {
    return DoFinish(number, *assessment.stop, absl::OkStatus(), now, actions);
  }

  const Decision decision = Decide(*policy, outcome, assessment, facts, ledger_,
                                   throttle_allows, *setup_.random);
  if (!decision.retry) {
    return DoFinish(number, decision.stop, absl::OkStatus(), now, actions);
  }
  if (ended_.has_value()) {
    return DoFinish(number, StopReason::kShutdown, absl::OkStatus(), now,
                    actions);
  }
  if (setup_.operation != nullptr && !setup_.operation->TryTake()) {
    return DoFinish(number, StopReason::kRequestBudget, absl::OkStatus(), now,
                    actions);
  }
  if (budget_entered_) {
    if (!setup_.policy->retry_budget->TryWithdraw(now)) {
      if (setup_.operation != nullptr) setup_.operation->GiveBack();
      return DoFinish(number, StopReason::kBudgetExhausted, absl::OkStatus(),
                      now, actions);
    }
    retry_withdrawn_ = true;
  }
  state_ = State::kWaiting;
  backoff_retries_ = decision.backoff_retries;
  previous_backoff_ = decision.previous_backoff;
  pending_wait_ = decision.wait;
  pending_wait_from_ = decision.wait_from;
  WaitUntil wait;
  wait.time = now + decision.wait;
  wait.next_attempt = attempts_ + 1;
  wait.wait = decision.wait;
  wait.wait_from = decision.wait_from;
  actions->push_back(wait);
}

bool RetryMachine::RecordEnd(int number, const Outcome& outcome,
                             const Assessment& assessment, Instant now) {
  last_class_ = assessment.outcome_class;
  ledger_.AttemptEnded(number, outcome, last_class_, now);
  last_retry_after_ = absl::nullopt;
  if (outcome.pushback.kind == Pushback::Kind::kDelay) {
    last_retry_after_ = outcome.pushback.delay;
  }
  if (setup_.throttle == nullptr) return true;
  if (assessment.throttle_success) setup_.throttle->RecordSuccess();
  return !assessment.throttle_failure || setup_.throttle->RecordFailure();
}

void RetryMachine::Committed(int number) {
  if (number == attempts_) committed_ = true;
}

void RetryMachine::Wake(Instant now, Actions* actions) {
  if (state_ != State::kWaiting) return;
  // The wait fitted when it was begun; a timer that came late may not.
  if (now >= deadline_) {
    return DoFinish(attempts_, StopReason::kDeadline, absl::OkStatus(), now,
                    actions);
  }
  if (now > window_end()) {
    return DoFinish(attempts_, StopReason::kRetryWindow, absl::OkStatus(), now,
                    actions);
  }
  BeginAttempt(AttemptKind::kRetry, now, actions);
}

void RetryMachine::End(EndCause cause, Instant now, Actions* actions) {
  if (state_ == State::kFinished) return;
  // The first cause that ends the call stays; a drain gives way to any other.
  if (ended_.has_value() && *ended_ != EndCause::kDrain) return;
  ended_ = cause;
  if (state_ == State::kWaiting) return FinishEnded(now, actions);
  if (state_ == State::kAttempt && cause != EndCause::kDrain) {
    actions->push_back(CancelAttempt{attempts_});
  }
}

void RetryMachine::FinishEnded(Instant now, Actions* actions) {
  const absl::string_view when =
      state_ == State::kIdle      ? "before the first attempt was made"
      : state_ == State::kWaiting ? "while waiting to retry"
                                  : "during an attempt";
  const bool waiting = state_ == State::kWaiting;
  const std::string last =
      LastAttempt(waiting ? last_failure_ : absl::Status());
  switch (*ended_) {
    case EndCause::kCaller:
    case EndCause::kParent:
      if (last_failure_.code() == absl::StatusCode::kCancelled && !waiting) {
        return DoFinish(attempts_, StopReason::kCancelled, absl::OkStatus(),
                        now, actions);
      }
      return DoFinish(
          0, StopReason::kCancelled,
          absl::CancelledError(absl::StrCat(
              *ended_ == EndCause::kCaller ? "cancelled by the caller "
                                           : "the server call was cancelled ",
              when, last)),
          now, actions);
    case EndCause::kParentDeadline:
      if (last_failure_.code() == absl::StatusCode::kDeadlineExceeded &&
          !waiting) {
        return DoFinish(attempts_, StopReason::kDeadline, absl::OkStatus(), now,
                        actions);
      }
      return DoFinish(
          0, StopReason::kDeadline,
          absl::DeadlineExceededError(absl::StrCat(
              "the deadline of the server call passed ", when, last)),
          now, actions);
    case EndCause::kDrain:
    case EndCause::kShutdown:
      if (attempts_ > 0) {
        return DoFinish(attempts_, StopReason::kShutdown, absl::OkStatus(), now,
                        actions);
      }
      return DoFinish(
          0, StopReason::kShutdown,
          absl::UnavailableError("redial is shut down: no attempt was made"),
          now, actions);
  }
}

void RetryMachine::DoFinish(int attempt, StopReason reason, absl::Status status,
                            Instant now, Actions* actions) {
  GiveBackRequest();
  ReleaseRetry();
  state_ = State::kFinished;
  stop_reason_ = reason;
  finished_at_ = now;
  final_code_ = attempt == 0                     ? status.code()
                : reason == StopReason::kSuccess ? absl::StatusCode::kOk
                                                 : last_failure_.code();
  if (budget_entered_) {
    budget_entered_ = false;
    const bool answered_well = attempt != 0 &&
                               reason != StopReason::kPushbackStop &&
                               (last_class_ == OutcomeClass::kSuccess ||
                                last_class_ == OutcomeClass::kPermanent);
    setup_.policy->retry_budget->CallEnded(answered_well, now);
  }
  Finish finish;
  finish.attempt = attempt;
  finish.reason = reason;
  finish.status = std::move(status);
  actions->push_back(std::move(finish));
}

// The request that a wait was for and that is not sent.
void RetryMachine::GiveBackRequest() {
  if (state_ != State::kWaiting || setup_.operation == nullptr) return;
  setup_.operation->GiveBack();
}

void RetryMachine::ReleaseRetry() {
  if (!retry_withdrawn_) return;
  retry_withdrawn_ = false;
  setup_.policy->retry_budget->RetryEnded();
}

CallReport RetryMachine::Report(Instant now) const {
  CallReport report;
  report.stop_reason = stop_reason_;
  report.code = final_code_;
  report.elapsed =
      (state_ == State::kFinished ? finished_at_ : now) - setup_.start;
  report.attempts.assign(ledger_.attempts().begin(), ledger_.attempts().end());
  report.retry_after = last_retry_after_;
  report.permanent = stop_reason_ != StopReason::kSuccess &&
                     last_class_ == OutcomeClass::kPermanent;
  return report;
}

}  // namespace redial
