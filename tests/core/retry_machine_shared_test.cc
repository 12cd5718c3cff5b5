// Many calls that share a throttle, a budget or a policy.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/policy.h"
#include "redial/core/retry_budget.h"
#include "redial/core/retry_machine.h"
#include "redial/core/throttle.h"
#include "redial/testing/fixed_random.h"
#include "redial/testing/machine_simulator.h"
#include "redial/testing/matchers.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using ::testing::ElementsAre;

constexpr absl::StatusCode kUnavailable = absl::StatusCode::kUnavailable;

class SharedStateTest : public ::testing::Test {
 protected:
  CallSetup SetupFor(std::shared_ptr<const MethodPolicy> policy) {
    CallSetup setup;
    setup.policy = std::move(policy);
    setup.throttle = throttle_;
    setup.random = &half_;
    return setup;
  }
  CallReport RunOne(const std::shared_ptr<const MethodPolicy>& policy,
                    std::vector<SimulatedAnswer> answers) {
    MachineSimulator simulator(std::move(answers));
    RetryMachine machine(SetupFor(policy));
    return simulator.Run(machine).report;
  }
  FixedRandom half_{0.5};
  std::shared_ptr<RetryThrottle> throttle_;
};

const SimulatedAnswer kRefusal = SimulatedAnswer::Error(kUnavailable);

TEST_F(SharedStateTest, ABudgetOfFiveStopsTenCallsAfterFiveRetries) {
  WindowedRetryBudget::Parameters parameters;
  parameters.ttl = absl::Seconds(5);
  parameters.ratio_millionths = 0;
  parameters.min_retries_per_second = 1;
  auto policy = ListedPolicy();
  policy->retry->max_attempts = 10;
  policy->retry->backoff.base = policy->retry->backoff.max = Ms(1);
  policy->retry_budget = std::make_shared<WindowedRetryBudget>(parameters);
  size_t attempts = 0;
  int budget_stops = 0;
  for (int i = 0; i < 10; ++i) {
    const CallReport report = RunOne(policy, {kRefusal});
    attempts += report.attempts.size();
    if (report.stop_reason == StopReason::kBudgetExhausted) ++budget_stops;
    EXPECT_EQ(report.code, kUnavailable);
  }
  EXPECT_EQ(attempts, 10u + 5u);
  EXPECT_EQ(budget_stops, 10);
}

TEST_F(SharedStateTest, AHealthyServersErrorsDoNotRunABudgetDry) {
  WindowedRetryBudget::Parameters parameters;
  parameters.ratio_millionths = 1000000;
  parameters.min_retries_per_second = 1;
  auto policy = ListedPolicy();
  policy->retry_budget = std::make_shared<WindowedRetryBudget>(parameters);
  for (int i = 0; i < 100; ++i) {
    const CallReport report =
        RunOne(policy,
               {kRefusal, SimulatedAnswer::Error(absl::StatusCode::kNotFound)});
    ASSERT_THAT(report, Attempts(2)) << i;
    ASSERT_THAT(report, StoppedBecause(StopReason::kPermanent)) << i;
  }
}

TEST_F(SharedStateTest, WaitsCountInFlightAndCancelGivesThemBack) {
  InFlightRetryBudget::Parameters parameters;
  parameters.min_retries = 0;
  const auto budget = std::make_shared<InFlightRetryBudget>(parameters);
  auto policy = ListedPolicy();
  policy->retry_budget = budget;
  std::vector<std::unique_ptr<MachineDriver>> calls;
  for (int i = 0; i < 200; ++i) {
    calls.push_back(std::make_unique<MachineDriver>(SetupFor(policy)));
    calls.back()->Start();
  }
  EXPECT_EQ(budget->active_calls(), 200);
  std::vector<MachineDriver*> waiting;
  for (const auto& call : calls) {
    call->Done(1, Failure(kUnavailable));
    if (!call->machine().finished()) waiting.push_back(call.get());
  }
  EXPECT_GT(waiting.size(), 0u);
  EXPECT_LE(waiting.size(), 40u);
  EXPECT_EQ(budget->retrying_calls(), static_cast<int64_t>(waiting.size()));
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (i % 2 == 0) {
      waiting[i]->End(EndCause::kCaller);
    } else {
      waiting[i]->Wake();
      waiting[i]->Done(2, Outcome());
    }
  }
  EXPECT_EQ(budget->retrying_calls(), 0);
  EXPECT_EQ(budget->active_calls(), 0);
}

TEST_F(SharedStateTest, ARetryThatEndedMakesRoomForTheNextOne) {
  InFlightRetryBudget::Parameters parameters;
  parameters.ratio_millionths = 0;
  parameters.min_retries = 1;
  auto policy = ListedPolicy();
  policy->retry_budget = std::make_shared<InFlightRetryBudget>(parameters);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(RunOne(policy, {kRefusal}),
                StoppedBecause(StopReason::kAttemptsExhausted));
  }
}

TEST_F(SharedStateTest, OnlyAnAnswerThatIsNoSignOfOverloadDeposits) {
  struct Row {
    std::string name;
    Outcome outcome;
    bool deposits;
  };
  Outcome stop = Failure(absl::StatusCode::kNotFound);
  stop.pushback = AskedToStop();
  Outcome committed = Failure(kUnavailable);
  committed.handed_over = true;
  for (const Row& row : std::vector<Row>{
           {"OK", Outcome(), true},
           {"permanent", Failure(absl::StatusCode::kNotFound), true},
           {"stop-pushback", stop, false},
           {"transient", committed, false}}) {
    SCOPED_TRACE(row.name);
    WindowedRetryBudget::Parameters parameters;
    parameters.min_retries_per_second = 0;
    const auto budget = std::make_shared<WindowedRetryBudget>(parameters);
    auto policy = ListedPolicy();
    policy->retry_budget = budget;
    MachineDriver call(SetupFor(policy));
    call.Start();
    call.Done(1, row.outcome);
    ASSERT_TRUE(call.machine().finished());
    EXPECT_EQ(budget->BalanceMillionths(Instant()), row.deposits ? 200000 : 0);
  }
}

// maxTokens 4, ratio 1.6: the token count stands on each line.
TEST_F(SharedStateTest, TheThrottleIsChargedForEachAttemptAndEarnsOnce) {
  throttle_ = std::make_shared<RetryThrottle>(ThrottleParameters{4000, 1600});
  const auto policy = ListedPolicy();
  const struct {
    std::vector<SimulatedAnswer> answers;
    int attempts;
    StopReason reason;
    int64_t milli_tokens;
  } calls[] = {
      {{kRefusal, SimulatedAnswer::Ok()}, 2, StopReason::kSuccess, 4000},
      {{kRefusal}, 2, StopReason::kThrottled, 2000},
      {{kRefusal}, 1, StopReason::kThrottled, 1000},
      {{SimulatedAnswer::Error(absl::StatusCode::kNotFound)},
       1,
       StopReason::kPermanent,
       1000},
      {{SimulatedAnswer::Error(absl::StatusCode::kNotFound)
            .WithTrailer("grpc-retry-pushback-ms", "-1")},
       1,
       StopReason::kPushbackStop,
       0},
      {{SimulatedAnswer::Ok()}, 1, StopReason::kSuccess, 1600},
      {{SimulatedAnswer::Ok()}, 1, StopReason::kSuccess, 3200},
      {{kRefusal, SimulatedAnswer::Ok()}, 2, StopReason::kSuccess, 3800},
  };
  for (const auto& call : calls) {
    const CallReport report = RunOne(policy, call.answers);
    EXPECT_THAT(report, Attempts(call.attempts));
    EXPECT_THAT(report, StoppedBecause(call.reason));
    EXPECT_EQ(throttle_->milli_tokens(), call.milli_tokens);
  }
}

TEST_F(SharedStateTest, CallsOfOnePolicyHaveABackoffEach) {
  const auto policy = ListedPolicy();
  std::vector<std::unique_ptr<MachineDriver>> calls;
  for (int i = 0; i < 50; ++i) {
    calls.push_back(std::make_unique<MachineDriver>(SetupFor(policy)));
    calls.back()->Start();
  }
  for (int attempt = 1; attempt <= 2; ++attempt) {
    for (const auto& call : calls) {
      EXPECT_THAT(call->Done(attempt, Failure(kUnavailable)),
                  ElementsAre(attempt == 1 ? "wait 100ms BACKOFF"
                                           : "wait 200ms BACKOFF"));
      call->Wake();
    }
  }
}

}  // namespace
}  // namespace redial
