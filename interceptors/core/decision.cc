#include "redial/core/decision.h"

#include <algorithm>

#include "redial/core/backoff.h"
#include "redial/core/classifier.h"

namespace redial {
namespace {

bool IsRetryable(OutcomeClass outcome_class) {
  switch (outcome_class) {
    case OutcomeClass::kUnprocessed:
    case OutcomeClass::kTransient:
    case OutcomeClass::kThrottled:
    case OutcomeClass::kAttemptTimeout:
      return true;
    case OutcomeClass::kSuccess:
    case OutcomeClass::kPermanent:
    case OutcomeClass::kCancelled:
    case OutcomeClass::kDeadline:
      return false;
  }
  return false;
}

// The server refused before it acted: safe to send again whatever the method.
bool ProvablyNotDone(OutcomeClass outcome_class) {
  return outcome_class == OutcomeClass::kUnprocessed ||
         outcome_class == OutcomeClass::kThrottled;
}

bool LimitReached(const RetryPolicy& policy, const Outcome& outcome,
                  OutcomeClass outcome_class, const AttemptLedger& ledger) {
  return std::any_of(
      policy.attempt_limits.begin(), policy.attempt_limits.end(),
      [&](const AttemptLimit& limit) {
        if (limit.code.has_value() && *limit.code == outcome.code) {
          return ledger.CountEnded(*limit.code) >= limit.max_attempts;
        }
        if (limit.outcome_class.has_value() &&
            *limit.outcome_class == outcome_class) {
          return ledger.CountEnded(*limit.outcome_class) >= limit.max_attempts;
        }
        return false;
      });
}

PushbackPolicy::Mode ModeFor(const PushbackPolicy& policy, WaitSource source) {
  switch (source) {
    case WaitSource::kPushback:
      return policy.grpc_pushback;
    case WaitSource::kRetryInfo:
      return policy.retry_info;
    default:
      return policy.retry_after;
  }
}

// Fills wait, its source and the backoff's state; false where the server's
// delay is longer than the policy lets anybody wait.
bool ChooseWait(const RetryPolicy& policy, const Pushback& pushback,
                const CallFacts& facts, RandomSource& random,
                Decision* decision) {
  const PushbackPolicy::Mode mode =
      pushback.kind == Pushback::Kind::kDelay
          ? ModeFor(policy.pushback, pushback.source)
          : PushbackPolicy::Mode::kIgnore;
  absl::Duration asked = pushback.delay;
  if (mode != PushbackPolicy::Mode::kIgnore) {
    const bool capped = pushback.source != WaitSource::kPushback ||
                        policy.pushback.cap_grpc_pushback;
    if (capped && asked > policy.pushback.cap) {
      if (!policy.pushback.clamp) return false;
      asked = policy.pushback.cap;
    }
    // After a pushback the backoff starts over (features 2.5).
    decision->backoff_retries = 0;
    decision->previous_backoff = absl::ZeroDuration();
    decision->wait = asked;
    decision->wait_from = pushback.source;
    if (mode == PushbackPolicy::Mode::kExact) return true;
  }
  const absl::Duration backoff = BackoffDelay(
      policy.backoff, facts.backoff_retries, facts.previous_backoff, random);
  if (mode == PushbackPolicy::Mode::kAtLeast && asked >= backoff) return true;
  decision->wait = backoff;
  decision->wait_from = WaitSource::kBackoff;
  if (mode == PushbackPolicy::Mode::kIgnore) {
    decision->backoff_retries = facts.backoff_retries + 1;
    decision->previous_backoff = backoff;
  }
  return true;
}

Decision Stop(StopReason reason) {
  Decision decision;
  decision.stop = reason;
  return decision;
}

}  // namespace

Assessment Assess(const RetryPolicy* policy, const Outcome& outcome,
                  const CallFacts& facts) {
  static const ClassifierPolicy* const kDefaultClasses = new ClassifierPolicy;
  Assessment assessment;
  const Classification classification = Classify(
      policy != nullptr ? policy->classifier : *kDefaultClasses, outcome);
  assessment.outcome_class = classification.outcome_class;
  assessment.chosen_by_owner = classification.chosen_by_owner;

  if (outcome.ok()) {
    assessment.stop = StopReason::kSuccess;
    assessment.throttle_success = policy != nullptr;
    return assessment;
  }
  if (facts.cancelled) {
    assessment.outcome_class = OutcomeClass::kCancelled;
    assessment.stop = StopReason::kCancelled;
    return assessment;
  }
  if (!outcome.attempt_timed_out &&
      outcome.code == absl::StatusCode::kDeadlineExceeded &&
      facts.now + DeadlineSlack() >= facts.deadline) {
    assessment.outcome_class = OutcomeClass::kDeadline;
    assessment.stop = StopReason::kDeadline;
    return assessment;
  }
  if (facts.now >= facts.deadline) {
    assessment.stop = StopReason::kDeadline;
    return assessment;
  }
  if (policy == nullptr) {
    assessment.stop = StopReason::kNoPolicy;
    return assessment;
  }
  if (outcome.pushback.kind == Pushback::Kind::kStop) {
    assessment.stop = StopReason::kPushbackStop;
    assessment.throttle_failure = true;
    return assessment;
  }
  if (assessment.outcome_class == OutcomeClass::kAttemptTimeout) {
    if (policy->attempt_timeout_retry == AttemptTimeoutRetry::kNever) {
      assessment.stop = StopReason::kPermanent;
      return assessment;
    }
    if (policy->attempt_timeout_retry == AttemptTimeoutRetry::kAlways) {
      assessment.chosen_by_owner = true;
    }
  }
  if (!IsRetryable(assessment.outcome_class)) {
    assessment.stop = StopReason::kPermanent;
    return assessment;
  }
  assessment.throttle_failure = true;
  return assessment;
}

Decision Decide(const RetryPolicy& policy, const Outcome& outcome,
                const Assessment& assessment, const CallFacts& facts,
                const AttemptLedger& ledger, bool throttle_allows,
                RandomSource& random) {
  if (assessment.stop.has_value()) return Stop(*assessment.stop);
  if (outcome.handed_over ||
      (outcome.headers_received && policy.headers_commit)) {
    return Stop(StopReason::kCommitted);
  }
  if (outcome.replay == Replay::kUnknownMessageType) {
    return Stop(StopReason::kUnknownMessageType);
  }
  if (outcome.replay != Replay::kPossible) {
    return Stop(StopReason::kNotReplayable);
  }
  if (!assessment.chosen_by_owner && !facts.may_send_twice &&
      !ProvablyNotDone(assessment.outcome_class)) {
    return Stop(StopReason::kNotIdempotent);
  }
  if (facts.attempts_made >= policy.max_attempts ||
      LimitReached(policy, outcome, assessment.outcome_class, ledger)) {
    return Stop(StopReason::kAttemptsExhausted);
  }
  if (!throttle_allows) return Stop(StopReason::kThrottled);

  Decision decision;
  if (!ChooseWait(policy, outcome.pushback, facts, random, &decision)) {
    return Stop(StopReason::kPushbackTooLong);
  }
  const Instant next_attempt = facts.now + decision.wait;
  if (next_attempt >= facts.deadline) return Stop(StopReason::kDeadline);
  if (next_attempt > facts.window_end) return Stop(StopReason::kRetryWindow);
  decision.retry = true;
  return decision;
}

}  // namespace redial
