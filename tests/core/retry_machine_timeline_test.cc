// Calls in virtual time: deadlines, cancellation, pushback, and what the report
// says of them.
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/policy.h"
#include "redial/core/retry_machine.h"
#include "redial/testing/fixed_random.h"
#include "redial/testing/machine_simulator.h"
#include "redial/testing/matchers.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::StatusCode kUnavailable = absl::StatusCode::kUnavailable;
constexpr absl::StatusCode kDeadlineExceeded =
    absl::StatusCode::kDeadlineExceeded;
constexpr absl::StatusCode kExhausted = absl::StatusCode::kResourceExhausted;

SimulatedAnswer Unavailable() {
  return SimulatedAnswer::Error(kUnavailable, "disk full");
}

class TimelineTest : public ::testing::Test {
 protected:
  SimulationResult Run(std::shared_ptr<const MethodPolicy> policy,
                       std::vector<SimulatedAnswer> answers,
                       absl::Duration timeout = absl::InfiniteDuration(),
                       absl::Duration cancel_at = absl::InfiniteDuration(),
                       Instant start = Instant()) {
    MachineSimulator simulator(std::move(answers), start);
    simulator.CancelAt(cancel_at);
    FixedRandom half(0.5);
    RetryMachine machine(simulator.Setup(std::move(policy), &half, timeout));
    SimulationResult result = simulator.Run(machine);
    EXPECT_THAT(result.violations, IsEmpty());
    return result;
  }
};

std::shared_ptr<MethodPolicy> WithBackoff(absl::Duration fixed) {
  auto policy = ListedPolicy();
  policy->retry->max_attempts = 9;
  policy->retry->backoff.base = policy->retry->backoff.max = fixed;
  return policy;
}

std::shared_ptr<MethodPolicy> WithAttemptTimeout(absl::Duration timeout) {
  auto policy = WithBackoff(Ms(1));
  policy->attempt_timeout = timeout;
  policy->retry->classifier.retryable_codes->Add(kDeadlineExceeded);
  return policy;
}

// ---- Deadline. ----

TEST_F(TimelineTest, AWaitBeyondTheDeadlineEndsTheCallAtOnce) {
  const SimulationResult result =
      Run(WithBackoff(absl::Seconds(10)), {Unavailable()}, absl::Seconds(2));
  EXPECT_EQ(result.report.elapsed, absl::ZeroDuration());
  EXPECT_THAT(result.report, Attempts(1));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kDeadline));
}

TEST_F(TimelineTest, TheRealCauseOutlivesTheDeadline) {
  const SimulationResult result =
      Run(WithBackoff(Ms(100)), {Unavailable()}, Ms(300));
  EXPECT_THAT(result.status, StatusIs(kUnavailable, "disk full"));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kDeadline));
  // At 0, 100 and 200 ms; the one at 300 ms would be at the deadline.
  EXPECT_THAT(result.report, Attempts(3));
  EXPECT_EQ(result.report.elapsed, Ms(200));
}

TEST_F(TimelineTest, ADeadlineInAnAttemptIsTheAnswerAndTheReportKeepsTheRest) {
  const SimulationResult result = Run(
      WithBackoff(Ms(100)), {Unavailable(), SimulatedAnswer::Hang()}, Ms(300));
  EXPECT_THAT(result.status, StatusIs(kDeadlineExceeded));
  EXPECT_EQ(result.report.elapsed, Ms(300));
  ASSERT_THAT(result.report, Attempts(2));
  EXPECT_EQ(result.report.attempts[0].code, kUnavailable);
  EXPECT_EQ(result.report.attempts[1].outcome_class, OutcomeClass::kDeadline);
}

TEST_F(TimelineTest, WithLittleTimeLeftAnAttemptStillHasALimit) {
  const SimulationResult result =
      Run(WithBackoff(Ms(100)), {Unavailable(), SimulatedAnswer::Hang()},
          Ms(100.4));
  EXPECT_THAT(result.report, Attempts(2));
  EXPECT_EQ(result.report.elapsed, Ms(100.4));
}

TEST_F(TimelineTest, TheFirstAttemptIsCutByTheDeadlineToo) {
  const SimulationResult result = Run(WithAttemptTimeout(absl::Seconds(50)),
                                      {SimulatedAnswer::Hang()}, Ms(500));
  EXPECT_THAT(result.report, Attempts(1));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kDeadline));
  EXPECT_EQ(result.report.elapsed, Ms(500));
}

TEST_F(TimelineTest, AnAttemptTimeoutIsRetriedWhileTimeIsLeft) {
  const SimulationResult result = Run(
      WithAttemptTimeout(Ms(100)),
      {SimulatedAnswer::Ok().After(absl::Seconds(1)), SimulatedAnswer::Ok()},
      absl::Seconds(3));
  EXPECT_THAT(result.status, IsOk());
  EXPECT_THAT(result.report, Attempts(2));
  EXPECT_EQ(result.report.attempts[0].outcome_class,
            OutcomeClass::kAttemptTimeout);
}

TEST_F(TimelineTest, EachAttemptIsCutAtItsOwnTimeout) {
  const SimulatedAnswer slow = SimulatedAnswer::Ok().After(Ms(10));
  const SimulationResult result =
      Run(WithAttemptTimeout(Ms(5)),
          {slow, slow, slow, slow, SimulatedAnswer::Ok()});
  EXPECT_THAT(result.report, Attempts(5));
  EXPECT_EQ(result.report.elapsed, Ms(4 * 5 + 4 * 1));
}

TEST_F(TimelineTest, TheOverallTimeWinsOverManyAttempts) {
  const SimulationResult result = Run(
      WithAttemptTimeout(Ms(300)), {SimulatedAnswer::Hang()}, absl::Seconds(1));
  EXPECT_EQ(result.report.elapsed, absl::Seconds(1));
  EXPECT_THAT(result.report, Attempts(4));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kDeadline));
}

// Features 3.4.
TEST_F(TimelineTest, TheRetryWindowCutsNoAttemptAndBeginsNone) {
  auto policy = WithBackoff(Ms(100));
  policy->retry_window = Ms(250);
  const SimulationResult in_flight =
      Run(policy, {Unavailable(), SimulatedAnswer::Ok().After(Ms(900))});
  EXPECT_THAT(in_flight.status, IsOk());
  EXPECT_EQ(in_flight.report.elapsed, Ms(1000));
  const SimulationResult refused = Run(policy, {Unavailable()});
  EXPECT_THAT(refused.status, StatusIs(kUnavailable, "disk full"));
  EXPECT_THAT(refused.report, StoppedBecause(StopReason::kRetryWindow));
  EXPECT_THAT(refused.report, Attempts(3));
  EXPECT_EQ(refused.report.elapsed, Ms(200));
}

// ---- Cancellation. ----

TEST_F(TimelineTest, ACancelEndsALongWaitAtOnceAndKeepsTheCause) {
  const SimulationResult result =
      Run(WithBackoff(absl::Seconds(10)), {Unavailable()},
          absl::InfiniteDuration(), Ms(100));
  EXPECT_THAT(result.status, StatusIs(absl::StatusCode::kCancelled,
                                      HasSubstr("UNAVAILABLE: disk full")));
  EXPECT_EQ(result.report.elapsed, Ms(100));
  EXPECT_THAT(result.report, Attempts(1));
}

TEST_F(TimelineTest, ACancelInAnAttemptIsNotRetriedEvenIfListed) {
  auto policy = WithBackoff(Ms(1));
  policy->retry->classifier.retryable_codes->Add(absl::StatusCode::kCancelled);
  const SimulationResult result =
      Run(policy, {SimulatedAnswer::Hang()}, absl::Seconds(9), Ms(100));
  EXPECT_THAT(result.report, Attempts(1));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kCancelled));
}

// ---- Pushback (features 2.3 to 2.5, RetryInfo). ----

TEST_F(TimelineTest, RetryInfoIsALowerBoundThatStartsTheBackoffOver) {
  auto policy = ListedPolicy();
  policy->retry->max_attempts = 9;
  const SimulationResult result = Run(
      policy,
      {Unavailable(), Unavailable(), Unavailable().WithRetryInfo(Ms(900)),
       Unavailable(), Unavailable().WithRetryInfo(Ms(10)), Unavailable(),
       Unavailable().WithRetryInfo(-absl::Seconds(1)), SimulatedAnswer::Ok()});
  EXPECT_THAT(result.report, Waits(Ms(100), Ms(200), Ms(900), Ms(100), Ms(200),
                                   Ms(100), Ms(200)));
  std::vector<std::string> sources;
  for (const AttemptRecord& attempt : result.report.attempts) {
    sources.emplace_back(WaitSourceName(attempt.wait_from));
  }
  EXPECT_THAT(sources, ElementsAre("NONE", "BACKOFF", "BACKOFF", "RETRY_INFO",
                                   "BACKOFF", "BACKOFF", "BACKOFF", "BACKOFF"));
}

TEST_F(TimelineTest, ExhaustedIsRetriedOnlyWithADelayFromTheServer) {
  struct Row {
    std::string name;
    SimulatedAnswer answer;
    int attempts;
    StopReason reason;
  };
  const SimulatedAnswer exhausted = SimulatedAnswer::Error(kExhausted);
  const auto with = [&](absl::Duration delay) {
    return SimulatedAnswer(exhausted).WithRetryInfo(delay);
  };
  const std::vector<Row> rows = {
      {"nothing asked: a message that is too large", exhausted, 1,
       StopReason::kPermanent},
      {"RetryInfo", with(Ms(900)), 2, StopReason::kSuccess},
      {"RetryInfo of zero", with(Ms(0)), 2, StopReason::kSuccess},
      {"negative RetryInfo", with(-absl::Seconds(1)), 1,
       StopReason::kPermanent},
      {"RetryInfo beyond the cap", with(absl::Minutes(6)), 1,
       StopReason::kPushbackTooLong},
      {"pushback",
       SimulatedAnswer(exhausted).WithTrailer("grpc-retry-pushback-ms", "5"), 2,
       StopReason::kSuccess},
      {"a stop",
       SimulatedAnswer(exhausted).WithTrailer("grpc-retry-pushback-ms", "-5"),
       1, StopReason::kPushbackStop},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    // Throttled, so the method need not be idempotent.
    const SimulationResult result =
        Run(DefaultClassesPolicy(), {row.answer, SimulatedAnswer::Ok()});
    EXPECT_THAT(result.report, Attempts(row.attempts));
    EXPECT_THAT(result.report, StoppedBecause(row.reason));
  }
}

TEST_F(TimelineTest, PushbackMsComesBeforeRetryInfo) {
  const SimulationResult result =
      Run(ListedPolicy(), {Unavailable()
                               .WithRetryInfo(absl::Seconds(3))
                               .WithTrailer("grpc-retry-pushback-ms", "20"),
                           SimulatedAnswer::Ok()});
  EXPECT_THAT(result.report, Waits(Ms(20)));
}

TEST_F(TimelineTest, AServerDelayBeyondTheDeadlineIsTheServersError) {
  const SimulationResult result = Run(
      ListedPolicy(), {Unavailable().WithRetryInfo(absl::Seconds(1))}, Ms(999));
  EXPECT_THAT(result.status, StatusIs(kUnavailable, "disk full"));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kDeadline));
  EXPECT_EQ(result.report.elapsed, absl::ZeroDuration());
  EXPECT_EQ(result.report.retry_after, absl::Seconds(1));
}

TEST_F(TimelineTest, RetryAfterInTheReportIsThatOfTheLastAnswer) {
  const SimulatedAnswer asking = Unavailable().WithRetryInfo(Ms(300));
  auto two = ListedPolicy();
  two->retry->max_attempts = 2;
  EXPECT_EQ(Run(two, {Unavailable(), asking}).report.retry_after, Ms(300));
  EXPECT_EQ(Run(two, {asking, Unavailable()}).report.retry_after,
            absl::nullopt);
  EXPECT_EQ(Run(two, {asking, SimulatedAnswer::Ok()}).report.retry_after,
            absl::nullopt);
}

// ---- Backoff (2.2), counting (4.1), clocks. ----

TEST_F(TimelineTest, ACustomBackoffIsToldWhichRetryItIs) {
  auto policy = ListedPolicy();
  policy->retry->backoff.max = absl::Minutes(1);
  policy->retry->backoff.custom = [](int retry, RandomSource&) {
    return absl::Seconds(retry);
  };
  EXPECT_THAT(Run(policy, {Unavailable()}).report,
              Waits(absl::Seconds(1), absl::Seconds(2), absl::Seconds(3)));
}

TEST_F(TimelineTest, DecorrelatedWaitsGrowFromTheOneBefore) {
  auto policy = ListedPolicy();
  policy->retry->backoff.form = BackoffForm::kDecorrelated;
  // U(100, 3 * previous) at one half.
  EXPECT_THAT(Run(policy, {Unavailable()}).report,
              Waits(Ms(200), Ms(350), Ms(575)));
}

TEST_F(TimelineTest, OneCounterDoesNotServeTwoLimits) {
  auto policy = ListedPolicy();
  policy->retry->max_attempts = 9;
  AttemptLimit unavailable;
  unavailable.code = kUnavailable;
  unavailable.max_attempts = 5;
  AttemptLimit throttled;
  throttled.outcome_class = OutcomeClass::kThrottled;
  throttled.max_attempts = 2;
  policy->retry->attempt_limits = {unavailable, throttled};
  const SimulatedAnswer exhausted = SimulatedAnswer::Error(kExhausted);
  const SimulationResult ok =
      Run(policy, {Unavailable(), Unavailable(), Unavailable(), exhausted,
                   SimulatedAnswer::Ok()});
  EXPECT_THAT(ok.status, IsOk());
  EXPECT_THAT(ok.report, Attempts(5));
  EXPECT_THAT(Run(policy, {Unavailable()}).report, Attempts(5));
  EXPECT_THAT(Run(policy, {Unavailable(), exhausted}).report, Attempts(3));
}

TEST_F(TimelineTest, TheSameWhereverTheClockBegan) {
  const std::vector<SimulatedAnswer> answers = {
      Unavailable().After(Ms(7)), Unavailable(), SimulatedAnswer::Hang()};
  const SimulationResult expected = Run(ListedPolicy(), answers, Ms(800));
  for (const absl::Duration epoch :
       {-absl::Hours(24 * 365 * 60), -Ms(1), absl::Hours(24 * 365 * 200)}) {
    const SimulationResult result =
        Run(ListedPolicy(), answers, Ms(800), absl::InfiniteDuration(),
            Instant::FromEpoch(epoch));
    EXPECT_EQ(result.trace, expected.trace) << epoch;
  }
}

}  // namespace
}  // namespace redial
