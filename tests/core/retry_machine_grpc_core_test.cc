// The unary cases of gRPC core's own retry tests, as far as they can be told
// without a wire: same policies, same answers, same results. Where redial
// promises something else, the row says what and why.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/policy.h"
#include "redial/core/retry_machine.h"
#include "redial/core/throttle.h"
#include "redial/testing/fixed_random.h"
#include "redial/testing/machine_simulator.h"
#include "redial/testing/matchers.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using ::testing::IsEmpty;
using Code = absl::StatusCode;
using Answers = std::vector<SimulatedAnswer>;

// initialBackoff 1s, maxBackoff 120s, multiplier 1.6, [ABORTED].
MethodPolicy CorePolicy(int max_attempts) {
  MethodPolicy policy;
  policy.retry.emplace();
  policy.retry->max_attempts = max_attempts;
  policy.retry->backoff.form = BackoffForm::kProportional;
  policy.retry->backoff.base = absl::Seconds(1);
  policy.retry->backoff.max = absl::Seconds(120);
  policy.retry->backoff.multiplier = 1.6;
  policy.retry->classifier.retryable_codes = CodeSet{Code::kAborted};
  return policy;
}

MethodPolicy With(MethodPolicy policy,
                  const std::function<void(MethodPolicy&)>& change) {
  change(policy);
  return policy;
}

SimulatedAnswer Aborted() {
  return SimulatedAnswer::Error(Code::kAborted, "xyz");
}

SimulatedAnswer Ok() { return SimulatedAnswer::Ok(); }
SimulatedAnswer Silent() { return SimulatedAnswer::Hang(); }

struct Row {
  std::string name;
  absl::optional<MethodPolicy> policy;
  Answers answers;
  // What the caller sees.
  Code code;
  int attempts;
  StopReason reason;
  absl::Duration elapsed;
  absl::Duration deadline = absl::Seconds(5);
  absl::optional<absl::Duration> cancel_at = absl::nullopt;
  absl::optional<ThrottleParameters> throttle = absl::nullopt;
};

class CoreRetryTest : public ::testing::TestWithParam<Row> {};

TEST_P(CoreRetryTest, EndsAsInCore) {
  const Row& row = GetParam();
  MachineSimulator simulator(row.answers);
  FixedRandom half(0.5);
  CallSetup setup = simulator.Setup(
      row.policy.has_value() ? std::make_shared<MethodPolicy>(*row.policy)
                             : nullptr,
      &half, row.deadline);
  if (row.throttle.has_value()) {
    setup.throttle = std::make_shared<RetryThrottle>(*row.throttle);
  }
  if (row.cancel_at.has_value()) simulator.CancelAt(*row.cancel_at);
  RetryMachine machine(std::move(setup));
  const SimulationResult result = simulator.Run(machine);
  EXPECT_THAT(result.status, StatusIs(row.code));
  EXPECT_THAT(result.report, Attempts(row.attempts));
  EXPECT_THAT(result.report, StoppedBecause(row.reason));
  EXPECT_EQ(result.report.elapsed, row.elapsed);
  EXPECT_THAT(result.violations, IsEmpty());
  if (row.code == Code::kAborted) {
    EXPECT_EQ(result.status.message(), "xyz");
  }
}

std::vector<Row> Rows() {
  const absl::Duration now = absl::ZeroDuration();
  const auto attempt_timeout = [](MethodPolicy& p) {
    p.attempt_timeout = absl::Seconds(2);
    // perAttemptRecvTimeout of core has no status: it is always retried.
    p.retry->attempt_timeout_retry = AttemptTimeoutRetry::kAlways;
  };
  const auto slow_backoff = [](MethodPolicy& p) {
    p.retry->backoff.base = absl::Seconds(35);
  };
  SimulatedAnswer message = Aborted();
  message.handed_over_after = now;
  SimulatedAnswer too_large = Aborted();
  too_large.replay = Replay::kTooLarge;
  const SimulatedAnswer invalid =
      SimulatedAnswer::Error(Code::kInvalidArgument);
  ThrottleParameters two_tokens;
  two_tokens.max_milli_tokens = 2000;
  two_tokens.milli_token_ratio = 1000;

  return {
      {"Retry",
       CorePolicy(3),
       {Aborted(), Ok()},
       Code::kOk,
       2,
       StopReason::kSuccess,
       absl::Seconds(1)},
      {"CancelAfterFirstAttemptStarts",
       CorePolicy(3),
       {Silent()},
       Code::kCancelled,
       1,
       StopReason::kCancelled,
       Ms(1),
       absl::Seconds(5),
       Ms(1)},
      {"CancelDuringDelay",
       With(CorePolicy(3), slow_backoff),
       {Aborted()},
       Code::kCancelled,
       1,
       StopReason::kCancelled,
       absl::Seconds(1),
       absl::Seconds(60),
       absl::Seconds(1)},
      // Core waits for the deadline and says DEADLINE_EXCEEDED. A wait that
      // does not fit is not begun, and the real failure stays.
      {"DeadlineDuringDelay",
       With(CorePolicy(3), slow_backoff),
       {Aborted()},
       Code::kAborted,
       1,
       StopReason::kDeadline,
       now,
       absl::Seconds(30)},
      {"RetryCancellation",
       CorePolicy(5),
       {Aborted(), Silent()},
       Code::kCancelled,
       2,
       StopReason::kCancelled,
       absl::Seconds(3),
       absl::Seconds(5),
       absl::Seconds(3)},
      {"RetryDeadline",
       CorePolicy(5),
       {Aborted(), Silent()},
       Code::kDeadlineExceeded,
       2,
       StopReason::kDeadline,
       absl::Seconds(5)},
      {"RetryDeadlineOfTheMethod",
       With(CorePolicy(5),
            [](MethodPolicy& p) { p.timeout = absl::Seconds(4); }),
       {Aborted(), Silent()},
       Code::kDeadlineExceeded,
       2,
       StopReason::kDeadline,
       absl::Seconds(4)},
      {"RetryDisabled",
       absl::nullopt,
       {Aborted()},
       Code::kAborted,
       1,
       StopReason::kNoPolicy,
       now},
      {"RetryExceedsBufferSize",
       CorePolicy(2),
       {too_large},
       Code::kAborted,
       1,
       StopReason::kNotReplayable,
       now},
      {"RetryNonRetriableStatus",
       CorePolicy(2),
       {invalid},
       Code::kInvalidArgument,
       1,
       StopReason::kPermanent,
       now},
      {"RetryPerAttemptRecvTimeout",
       With(CorePolicy(3), attempt_timeout),
       {Silent(), Aborted(), Ok()},
       Code::kOk,
       3,
       StopReason::kSuccess,
       absl::Seconds(2 + 1) + Ms(1600),
       absl::Seconds(10)},
      // Core ends with CANCELLED, "retry perAttemptRecvTimeout exceeded"; an
      // attempt timeout is DEADLINE_EXCEEDED here.
      {"RetryPerAttemptRecvTimeoutOnLastAttempt",
       With(CorePolicy(2), attempt_timeout),
       {Silent()},
       Code::kDeadlineExceeded,
       2,
       StopReason::kAttemptsExhausted,
       absl::Seconds(2 + 1 + 2),
       absl::Seconds(10)},
      {"RetryRecvInitialMetadata",
       CorePolicy(2),
       {Aborted().WithHeaders()},
       Code::kAborted,
       1,
       StopReason::kCommitted,
       now,
       absl::Minutes(1)},
      {"RetryRecvMessage",
       CorePolicy(2),
       {message.After(Ms(1))},
       Code::kAborted,
       1,
       StopReason::kCommitted,
       Ms(1),
       absl::Minutes(1)},
      // The decision takes the status as a filter has rewritten it.
      {"RetryRecvTrailingMetadataError",
       CorePolicy(2),
       {invalid},
       Code::kInvalidArgument,
       1,
       StopReason::kPermanent,
       now},
      {"RetrySendOpFails",
       CorePolicy(2),
       {Aborted(), Aborted()},
       Code::kAborted,
       2,
       StopReason::kAttemptsExhausted,
       absl::Seconds(1)},
      {"RetrySendRecvBatch",
       CorePolicy(3),
       {SimulatedAnswer::Error(Code::kPermissionDenied)},
       Code::kPermissionDenied,
       1,
       StopReason::kPermanent,
       now},
      {"RetryServerPushbackDelay",
       CorePolicy(3),
       {Aborted().WithTrailer("grpc-retry-pushback-ms", "2000"), Ok()},
       Code::kOk,
       2,
       StopReason::kSuccess,
       absl::Seconds(2),
       absl::Minutes(1)},
      {"RetryServerPushbackDisabled",
       CorePolicy(3),
       {Aborted(), Aborted().WithTrailer("grpc-retry-pushback-ms", "-1")},
       Code::kAborted,
       2,
       StopReason::kPushbackStop,
       absl::Seconds(1)},
      {"RetryThrottled",
       CorePolicy(2),
       {Aborted()},
       Code::kAborted,
       1,
       StopReason::kThrottled,
       now,
       absl::Seconds(30),
       absl::nullopt,
       two_tokens},
      {"RetryTooManyAttempts",
       CorePolicy(2),
       {Aborted()},
       Code::kAborted,
       2,
       StopReason::kAttemptsExhausted,
       absl::Seconds(1)},
      {"RetryUnrefBeforeFinish",
       CorePolicy(3),
       {SimulatedAnswer::Error(Code::kFailedPrecondition)},
       Code::kFailedPrecondition,
       1,
       StopReason::kPermanent,
       now},
      {"PushbackDoesNotListACode",
       CorePolicy(3),
       {SimulatedAnswer::Error(Code::kInternal)
            .WithTrailer("grpc-retry-pushback-ms", "5")},
       Code::kInternal,
       1,
       StopReason::kPermanent,
       now},
      {"PushbackDoesNotAddAttempts",
       CorePolicy(2),
       {Aborted().WithTrailer("grpc-retry-pushback-ms", "5")},
       Code::kAborted,
       2,
       StopReason::kAttemptsExhausted,
       Ms(5)},
  };
}

INSTANTIATE_TEST_SUITE_P(Rows, CoreRetryTest, ::testing::ValuesIn(Rows()),
                         [](const ::testing::TestParamInfo<Row>& info) {
                           return info.param.name;
                         });

// The series of A6, and that a pushback starts it over.
TEST(CoreRetrySeriesTest, WaitsGrowByTheMultiplierAndStartOverAfterAPushback) {
  MachineSimulator simulator(
      {Aborted(), Aborted(), Aborted(),
       Aborted().WithTrailer("grpc-retry-pushback-ms", "70"), Aborted(),
       Aborted(), Ok()});
  FixedRandom half(0.5);
  RetryMachine machine(
      simulator.Setup(std::make_shared<MethodPolicy>(CorePolicy(9)), &half));
  EXPECT_THAT(simulator.Run(machine).report,
              Waits(Ms(1000), Ms(1600), Ms(2560), Ms(70), Ms(1000), Ms(1600)));
}

// Any value but a canonical non-negative 32-bit integer means "do not retry".
TEST(CoreRetrySeriesTest, PushbackThatIsNotANumberStops) {
  for (const char* bad :
       {"-1", "abc", "", "007", "1.5", "2147483648", "+5", " 5", "0x10"}) {
    SCOPED_TRACE(bad);
    MachineSimulator simulator(
        {Aborted().WithTrailer("grpc-retry-pushback-ms", bad), Ok()});
    FixedRandom half(0.5);
    RetryMachine machine(
        simulator.Setup(std::make_shared<MethodPolicy>(CorePolicy(3)), &half));
    const SimulationResult result = simulator.Run(machine);
    EXPECT_THAT(result.report, Attempts(1));
    EXPECT_THAT(result.report, StoppedBecause(StopReason::kPushbackStop));
  }
}

}  // namespace
}  // namespace redial
