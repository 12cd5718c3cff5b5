#include "redial/core/decision.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "redial/core/attempt_ledger.h"
#include "redial/core/call_report.h"
#include "redial/core/outcome.h"
#include "redial/core/policy.h"
#include "redial/testing/fixed_random.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

constexpr absl::StatusCode kUnavailable = absl::StatusCode::kUnavailable;
constexpr absl::StatusCode kDeadlineExceeded =
    absl::StatusCode::kDeadlineExceeded;

// What one decision is made of. As it stands it is a retry after 100 ms.
struct Case {
  bool has_policy = true;
  RetryPolicy policy = *ListedPolicy()->retry;
  Outcome outcome = Failure(kUnavailable);
  CallFacts facts;
  bool throttle_allows = true;
  double fraction = 0.5;

  Case() { facts.now = Instant::FromEpoch(absl::Hours(1)); }

  Assessment Assessed() const {
    return Assess(has_policy ? &policy : nullptr, outcome, facts);
  }
  Decision Decided() const {
    const Assessment assessment = Assessed();
    AttemptLedger ledger;
    ledger.AttemptStarted(1, AttemptKind::kFirst, absl::ZeroDuration(),
                          WaitSource::kNone, facts.now);
    ledger.AttemptEnded(1, outcome, assessment.outcome_class, facts.now);
    FixedRandom random(fraction);
    return Decide(policy, outcome, assessment, facts, ledger, throttle_allows,
                  random);
  }
};

using Change = std::function<void(Case&)>;

TEST(DecisionTest, TheCaseThatTheTablesChangeIsARetry) {
  const Decision decision = Case().Decided();
  EXPECT_TRUE(decision.retry);
  EXPECT_EQ(decision.wait, Ms(100));
  EXPECT_EQ(decision.wait_from, WaitSource::kBackoff);
}

struct Step {
  std::string name;
  StopReason stop;
  Change apply;
};

// In the order of decision.h. "No retry policy" stands after the cancel and the
// deadline here: the reason of a failure is decided so (its effect on the
// throttle is in ChargesTest).
std::vector<Step> Steps() {
  return {
      {"success", StopReason::kSuccess,
       [](Case& c) { c.outcome.code = absl::StatusCode::kOk; }},
      {"cancelled", StopReason::kCancelled,
       [](Case& c) { c.facts.cancelled = true; }},
      {"deadline passed", StopReason::kDeadline,
       [](Case& c) { c.facts.deadline = c.facts.now; }},
      {"no policy", StopReason::kNoPolicy,
       [](Case& c) { c.has_policy = false; }},
      {"stop-pushback", StopReason::kPushbackStop,
       [](Case& c) { c.outcome.pushback = AskedToStop(); }},
      {"class", StopReason::kPermanent,
       [](Case& c) { c.outcome.code = absl::StatusCode::kNotFound; }},
      {"committed", StopReason::kCommitted,
       [](Case& c) { c.outcome.handed_over = true; }},
      {"not replayable", StopReason::kNotReplayable,
       [](Case& c) { c.outcome.replay = Replay::kOneShot; }},
      {"idempotency", StopReason::kNotIdempotent,
       [](Case& c) { c.policy.classifier.retryable_codes.reset(); }},
      {"attempts", StopReason::kAttemptsExhausted,
       [](Case& c) { c.policy.max_attempts = 1; }},
      {"throttle", StopReason::kThrottled,
       [](Case& c) { c.throttle_allows = false; }},
      {"pushback beyond the cap", StopReason::kPushbackTooLong,
       [](Case& c) {
         c.outcome.pushback = Asked(WaitSource::kRetryInfo, absl::Minutes(6));
       }},
      {"the wait does not fit the deadline", StopReason::kDeadline,
       [](Case& c) { c.facts.deadline = c.facts.now + Ms(50); }},
      {"the wait does not fit the window", StopReason::kRetryWindow,
       [](Case& c) { c.facts.window_end = c.facts.now + Ms(50); }},
  };
}

TEST(DecisionOrderTest, EachStepAloneStopsTheCall) {
  for (const Step& step : Steps()) {
    SCOPED_TRACE(step.name);
    Case c;
    step.apply(c);
    const Decision decision = c.Decided();
    EXPECT_FALSE(decision.retry);
    EXPECT_EQ(StopReasonName(decision.stop), StopReasonName(step.stop));
  }
}

TEST(DecisionOrderTest, EachStepPrecedesEveryLaterOne) {
  const std::vector<Step> steps = Steps();
  for (size_t earlier = 0; earlier < steps.size(); ++earlier) {
    for (size_t later = earlier + 1; later < steps.size(); ++later) {
      SCOPED_TRACE(steps[earlier].name + " before " + steps[later].name);
      Case c;
      // Where both need the same field the earlier step has the last word.
      steps[later].apply(c);
      steps[earlier].apply(c);
      EXPECT_EQ(StopReasonName(c.Decided().stop),
                StopReasonName(steps[earlier].stop));
    }
  }
}

struct ChargeRow {
  std::string name;
  Change apply;
  bool earns;
  bool charges;
};

TEST(ChargesTest, WhatTheThrottleIsTold) {
  const std::vector<ChargeRow> rows = {
      {"a success earns",
       [](Case& c) { c.outcome.code = absl::StatusCode::kOk; }, true, false},
      {"a success without a policy earns nothing",
       [](Case& c) {
         c.outcome.code = absl::StatusCode::kOk;
         c.has_policy = false;
       },
       false, false},
      {"a failure without a policy charges nothing",
       [](Case& c) { c.has_policy = false; }, false, false},
      {"a cancel charges nothing", [](Case& c) { c.facts.cancelled = true; },
       false, false},
      {"a deadline that passed charges nothing",
       [](Case& c) { c.facts.deadline = c.facts.now; }, false, false},
      {"a retryable code charges", [](Case&) {}, false, true},
      {"another code does not",
       [](Case& c) { c.outcome.code = absl::StatusCode::kNotFound; }, false,
       false},
      {"a stop-pushback charges for a retryable code",
       [](Case& c) { c.outcome.pushback = AskedToStop(); }, false, true},
      {"a stop-pushback charges for any code",
       [](Case& c) {
         c.outcome.pushback = AskedToStop();
         c.outcome.code = absl::StatusCode::kNotFound;
       },
       false, true},
      {"a delay does not make another code charge",
       [](Case& c) {
         c.outcome.pushback = Asked(WaitSource::kPushback, Ms(5));
         c.outcome.code = absl::StatusCode::kNotFound;
       },
       false, false},
      {"charged before the commitment is looked at",
       [](Case& c) { c.outcome.handed_over = true; }, false, true},
      {"charged before the attempts are counted",
       [](Case& c) { c.policy.max_attempts = 1; }, false, true},
      {"an attempt timeout charges",
       [](Case& c) {
         c.outcome.code = kDeadlineExceeded;
         c.outcome.attempt_timed_out = true;
       },
       false, true},
      {"an attempt timeout that is never retried does not",
       [](Case& c) {
         c.outcome.code = kDeadlineExceeded;
         c.outcome.attempt_timed_out = true;
         c.policy.attempt_timeout_retry = AttemptTimeoutRetry::kNever;
       },
       false, false},
  };
  for (const ChargeRow& row : rows) {
    SCOPED_TRACE(row.name);
    Case c;
    row.apply(c);
    EXPECT_EQ(c.Assessed().throttle_success, row.earns);
    EXPECT_EQ(c.Assessed().throttle_failure, row.charges);
  }
}

struct ResultRow {
  std::string name;
  Change apply;
  // None: it is retried.
  absl::optional<StopReason> stop;
};

void ExpectResults(const std::vector<ResultRow>& rows) {
  for (const ResultRow& row : rows) {
    SCOPED_TRACE(row.name);
    Case c;
    row.apply(c);
    const Decision decision = c.Decided();
    EXPECT_EQ(decision.retry, !row.stop.has_value());
    if (row.stop.has_value()) {
      EXPECT_EQ(StopReasonName(decision.stop), StopReasonName(*row.stop));
    }
  }
}

TEST(DecisionTest, CommitmentFollowsA6UnlessThePolicyLiftsIt) {
  ExpectResults({
      {"headers commit", [](Case& c) { c.outcome.headers_received = true; },
       StopReason::kCommitted},
      {"the policy lifts that",
       [](Case& c) {
         c.outcome.headers_received = true;
         c.policy.headers_commit = false;
       },
       absl::nullopt},
      {"never for what the caller has seen",
       [](Case& c) {
         c.outcome.handed_over = true;
         c.policy.headers_commit = false;
       },
       StopReason::kCommitted},
  });
}

TEST(DecisionTest, ARequestThatCannotBeSentAgainSaysWhy) {
  ExpectResults({
      {"too large", [](Case& c) { c.outcome.replay = Replay::kTooLarge; },
       StopReason::kNotReplayable},
      {"one shot", [](Case& c) { c.outcome.replay = Replay::kOneShot; },
       StopReason::kNotReplayable},
      {"unknown message type",
       [](Case& c) { c.outcome.replay = Replay::kUnknownMessageType; },
       StopReason::kUnknownMessageType},
  });
}

TEST(DecisionTest, ClassAndIdempotencyDecideTogether) {
  const auto defaults = [](Case& c) {
    c.policy.classifier.retryable_codes.reset();
  };
  ExpectResults({
      {"transient, not idempotent", defaults, StopReason::kNotIdempotent},
      {"transient, idempotent",
       [=](Case& c) {
         defaults(c);
         c.facts.may_send_twice = true;
       },
       absl::nullopt},
      {"unprocessed, not idempotent",
       [=](Case& c) {
         defaults(c);
         c.outcome.unprocessed = true;
       },
       absl::nullopt},
      {"throttled, not idempotent",
       [=](Case& c) {
         defaults(c);
         c.outcome.code = absl::StatusCode::kResourceExhausted;
         c.outcome.pushback = Asked(WaitSource::kRetryInfo, Ms(5));
       },
       absl::nullopt},
      {"listed by the owner, not idempotent", [](Case&) {}, absl::nullopt},
      {"a rule does not lift idempotency",
       [=](Case& c) {
         defaults(c);
         ClassRule rule;
         rule.code = absl::StatusCode::kAborted;
         rule.outcome_class = OutcomeClass::kTransient;
         c.policy.classifier.rules = {rule};
         c.outcome.code = absl::StatusCode::kAborted;
       },
       StopReason::kNotIdempotent},
  });
}

// Features 1.3: listed or idempotent; a setting switches either way.
TEST(DecisionTest, AnAttemptTimeoutIsRetriedIfListedOrIdempotent) {
  const auto timed_out = [](bool listed, bool idempotent,
                            AttemptTimeoutRetry retry) {
    return [=](Case& c) {
      c.outcome.code = kDeadlineExceeded;
      c.outcome.attempt_timed_out = true;
      if (listed) c.policy.classifier.retryable_codes->Add(kDeadlineExceeded);
      c.facts.may_send_twice = idempotent;
      c.policy.attempt_timeout_retry = retry;
    };
  };
  constexpr auto kDefault = AttemptTimeoutRetry::kDefault;
  constexpr auto kAlways = AttemptTimeoutRetry::kAlways;
  constexpr auto kNever = AttemptTimeoutRetry::kNever;
  ExpectResults({
      {"neither", timed_out(false, false, kDefault),
       StopReason::kNotIdempotent},
      {"listed", timed_out(true, false, kDefault), absl::nullopt},
      {"idempotent", timed_out(false, true, kDefault), absl::nullopt},
      {"always", timed_out(false, false, kAlways), absl::nullopt},
      {"never", timed_out(true, true, kNever), StopReason::kPermanent},
      {"the server's own DEADLINE_EXCEEDED follows the list alone",
       [](Case& c) {
         c.outcome.code = kDeadlineExceeded;
         c.facts.may_send_twice = true;
         c.policy.attempt_timeout_retry = AttemptTimeoutRetry::kAlways;
       },
       StopReason::kPermanent},
  });
}

TEST(DecisionTest, OnlyDeadlineExceededIsExcusedByTheSlack) {
  const auto left = [](absl::StatusCode code, absl::Duration time_left) {
    return [=](Case& c) {
      c.outcome.code = code;
      c.policy.classifier.retryable_codes->Add(code);
      c.policy.backoff.base = c.policy.backoff.max = absl::Nanoseconds(1);
      c.facts.deadline = c.facts.now + time_left;
    };
  };
  ExpectResults({
      {"DEADLINE_EXCEEDED within the slack",
       left(kDeadlineExceeded, DeadlineSlack()), StopReason::kDeadline},
      {"DEADLINE_EXCEEDED before it",
       left(kDeadlineExceeded, DeadlineSlack() + Ms(1)), absl::nullopt},
      {"UNAVAILABLE within it", left(kUnavailable, DeadlineSlack()),
       absl::nullopt},
      {"UNAVAILABLE after the deadline", left(kUnavailable, -Ms(1)),
       StopReason::kDeadline},
  });
}

TEST(DecisionTest, AWaitFitsBeforeTheDeadlineAndUpToTheWindow) {
  ExpectResults({
      {"ends just before the deadline",
       [](Case& c) {
         c.facts.deadline = c.facts.now + Ms(100) + absl::Nanoseconds(1);
       },
       absl::nullopt},
      {"ends at the deadline",
       [](Case& c) { c.facts.deadline = c.facts.now + Ms(100); },
       StopReason::kDeadline},
      {"ends with the window",
       [](Case& c) { c.facts.window_end = c.facts.now + Ms(100); },
       absl::nullopt},
      {"ends after the window",
       [](Case& c) {
         c.facts.window_end = c.facts.now + Ms(100) - absl::Nanoseconds(1);
       },
       StopReason::kRetryWindow},
      {"would never end",
       [](Case& c) {
         c.policy.pushback.cap = absl::InfiniteDuration();
         c.outcome.pushback =
             Asked(WaitSource::kRetryAfter, absl::InfiniteDuration());
       },
       StopReason::kDeadline},
  });
}

TEST(DecisionTest, TheFirstAttemptCounts) {
  const auto made = [](int max_attempts, int attempts_made) {
    return [=](Case& c) {
      c.policy.max_attempts = max_attempts;
      c.facts.attempts_made = attempts_made;
    };
  };
  ExpectResults({
      {"one of two", made(2, 1), absl::nullopt},
      {"two of two", made(2, 2), StopReason::kAttemptsExhausted},
      {"zero is one", made(0, 1), StopReason::kAttemptsExhausted},
      {"negative is one", made(-1, 1), StopReason::kAttemptsExhausted},
      {"unlimited", made(RetryPolicy::kUnlimitedAttempts, 1000000),
       absl::nullopt},
  });
}

}  // namespace
}  // namespace redial
