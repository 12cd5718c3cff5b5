// What a call brings along: policy, deadlines, idempotency, budgets.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/variant.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/idempotency.h"
#include "redial/core/operation.h"
#include "redial/core/policy.h"
#include "redial/core/retry_budget.h"
#include "redial/core/retry_machine.h"
#include "redial/core/throttle.h"
#include "redial/testing/fixed_random.h"
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
const Instant kStart = Instant::FromEpoch(absl::Hours(1));

class RetryMachineSetupTest : public ::testing::Test {
 protected:
  CallSetup SetupFor(std::shared_ptr<const MethodPolicy> policy) {
    CallSetup setup;
    setup.policy = std::move(policy);
    setup.random = &half_;
    setup.start = kStart;
    return setup;
  }
  FixedRandom half_{0.5};
};

std::shared_ptr<Operation> OperationOf(
    int64_t requests, absl::Duration window = absl::InfiniteDuration()) {
  Operation::Limits limits;
  limits.max_requests = requests;
  limits.retry_window = window;
  return std::make_shared<Operation>(limits);
}

std::shared_ptr<InFlightRetryBudget> AtMostRetrying(int64_t retries) {
  InFlightRetryBudget::Parameters parameters;
  parameters.ratio_millionths = 0;
  parameters.min_retries = retries;
  return std::make_shared<InFlightRetryBudget>(parameters);
}

TEST_F(RetryMachineSetupTest, WithoutAPolicyNothingIsRetried) {
  MachineDriver call(SetupFor(nullptr));
  EXPECT_FALSE(call.machine().may_retry());
  EXPECT_EQ(call.machine().previous_attempts_name(), "");
  EXPECT_EQ(call.machine().max_retained_request_bytes(), 0u);
  EXPECT_TRUE(call.machine().deadline().is_infinite());
  EXPECT_THAT(call.Start(), ElementsAre("start 1 FIRST"));
  EXPECT_THAT(call.Done(1, Failure(kUnavailable)),
              ElementsAre("finish 1 NO_POLICY"));
  EXPECT_FALSE(call.Report().permanent);

  auto no_retry = std::make_shared<MethodPolicy>();
  no_retry->timeout = absl::Seconds(1);
  MachineDriver limited(SetupFor(no_retry));
  EXPECT_FALSE(limited.machine().may_retry());
  limited.Start();
  EXPECT_THAT(limited.Done(1, Failure(kUnavailable)),
              ElementsAre("finish 1 NO_POLICY"));
}

TEST_F(RetryMachineSetupTest, WithoutAPolicyADeadlineOrACancelIsTheReason) {
  CallSetup setup = SetupFor(nullptr);
  setup.caller_deadline = kStart + Ms(5);
  MachineDriver late(setup);
  late.Start();
  late.Advance(Ms(5));
  EXPECT_THAT(late.Done(1, Failure(kDeadlineExceeded)),
              ElementsAre("finish 1 DEADLINE"));
  MachineDriver cancelled(setup);
  cancelled.Start();
  cancelled.End(EndCause::kCaller);
  EXPECT_THAT(cancelled.Done(1, Failure(absl::StatusCode::kCancelled)),
              ElementsAre("finish 1 CANCELLED"));
}

// Step 1 comes before the throttle of steps 2 and 6.
TEST_F(RetryMachineSetupTest, WithoutARetryPolicyTheThrottleIsLeftAlone) {
  for (const bool ok : {true, false}) {
    CallSetup setup = SetupFor(nullptr);
    const auto throttle =
        std::make_shared<RetryThrottle>(ThrottleParameters{4000, 1000});
    throttle->RecordFailure();
    setup.throttle = throttle;
    MachineDriver call(std::move(setup));
    call.Start();
    call.Done(1, ok ? Outcome() : Failure(kUnavailable));
    EXPECT_EQ(throttle->milli_tokens(), 3000) << ok;
  }
}

TEST_F(RetryMachineSetupTest, MayRetryNeedsASecondAttempt) {
  auto policy = ListedPolicy();
  EXPECT_TRUE(MachineDriver(SetupFor(policy)).machine().may_retry());
  policy->retry->max_attempts = 1;
  EXPECT_FALSE(MachineDriver(SetupFor(policy)).machine().may_retry());
}

TEST_F(RetryMachineSetupTest, ARefusedCallIsAnsweredInWordsAndNotSent) {
  CallSetup bad_key = SetupFor(ListedPolicy());
  bad_key.refused = absl::InvalidArgumentError("the key is too long");
  MachineDriver invalid(std::move(bad_key));
  EXPECT_THAT(invalid.Start(), ElementsAre("finish 0 PERMANENT"));
  EXPECT_THAT(invalid.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                         "the key is too long"));
  EXPECT_TRUE(invalid.Report().permanent);

  CallSetup admission = SetupFor(ListedPolicy());
  admission.refused = absl::UnavailableError("the breaker is open");
  MachineDriver refused(std::move(admission));
  EXPECT_THAT(refused.Start(), ElementsAre("finish 0 REJECTED"));
  EXPECT_THAT(refused.status(), StatusIs(kUnavailable, "the breaker is open"));
  EXPECT_FALSE(refused.Report().permanent);
}

// Features 1.5, and the call's own word before all of them.
TEST_F(RetryMachineSetupTest,
       IdempotencyIsTheCallsThenTheDescriptorsThenConfigs) {
  struct Row {
    std::string name;
    absl::optional<bool> options;
    Idempotency descriptor;
    Idempotency config;
    bool key;
    bool retried;
  };
  constexpr auto kUnknown = Idempotency::kUnknown;
  constexpr auto kIdempotent = Idempotency::kIdempotent;
  constexpr auto kNot = Idempotency::kNotIdempotent;
  const std::vector<Row> rows = {
      {"nobody says so", absl::nullopt, kUnknown, kUnknown, false, false},
      {"a key", absl::nullopt, kUnknown, kUnknown, true, true},
      {"config", absl::nullopt, kUnknown, kIdempotent, false, true},
      {"config against a key", absl::nullopt, kUnknown, kNot, true, false},
      {"descriptor against config", absl::nullopt, Idempotency::kNoSideEffects,
       kNot, false, true},
      {"options against all", true, kNot, kNot, false, true},
      {"options against all, no", false, kIdempotent, kIdempotent, true, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto policy = DefaultClassesPolicy();
    policy->idempotency = row.config;
    CallSetup setup = SetupFor(policy);
    setup.idempotent_override = row.options;
    setup.idempotency = row.descriptor;
    setup.has_idempotency_key = row.key;
    MachineDriver call(std::move(setup));
    EXPECT_EQ(call.machine().may_send_twice(), row.retried);
    call.Start();
    EXPECT_THAT(call.Done(1, Failure(kUnavailable)),
                ElementsAre(row.retried ? "wait 100ms BACKOFF"
                                        : "finish 1 NOT_IDEMPOTENT"));
  }
}

// Features 3.1.
TEST_F(RetryMachineSetupTest, TheEarliestDeadlineHolds) {
  const Instant never = Instant::Infinite();
  struct Row {
    std::string name;
    Instant caller;
    absl::Duration config;
    Instant inherited;
    bool inherit;
    Instant expected;
    Instant without_policy;
  };
  const absl::Duration none = absl::InfiniteDuration();
  const std::vector<Row> rows = {
      {"none", never, none, never, true, never, never},
      {"the caller's", kStart + Ms(10), Ms(20), kStart + Ms(530), true,
       kStart + Ms(10), kStart + Ms(10)},
      {"the config's, from the start", kStart + Ms(30), Ms(20),
       kStart + Ms(530), true, kStart + Ms(20), kStart + Ms(30)},
      {"the inherited one, minus the reserve", kStart + Ms(30), Ms(20),
       kStart + Ms(15), true, kStart + Ms(10), kStart + Ms(15)},
      {"inherited, but opted out", kStart + Ms(30), Ms(20), kStart + Ms(15),
       false, kStart + Ms(20), kStart + Ms(15)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto policy = ListedPolicy();
    policy->timeout = row.config;
    policy->inherit_deadline = row.inherit;
    policy->deadline_reserve = Ms(5);
    CallSetup setup = SetupFor(policy);
    setup.caller_deadline = row.caller;
    setup.inherited_deadline = row.inherited;
    EXPECT_EQ(MachineDriver(setup).machine().deadline(), row.expected);
    setup.policy = nullptr;
    EXPECT_EQ(MachineDriver(setup).machine().deadline(), row.without_policy);
  }
}

TEST_F(RetryMachineSetupTest, WithADeadlineThatHasPassedNothingIsSent) {
  for (const absl::Duration left : {Ms(0), -Ms(1), -absl::Hours(9)}) {
    CallSetup setup = SetupFor(ListedPolicy());
    setup.caller_deadline = kStart + left;
    const auto operation = OperationOf(5);
    setup.operation = operation;
    MachineDriver call(std::move(setup));
    EXPECT_THAT(call.Start(), ElementsAre("finish 0 DEADLINE"));
    EXPECT_THAT(call.status(),
                StatusIs(kDeadlineExceeded, HasSubstr("no attempt was made")));
    EXPECT_EQ(operation->requests_used(), 0);
    EXPECT_FALSE(call.Report().permanent);
  }
}

// Features 3.2: fresh for each attempt, cut to the time left, told apart.
TEST_F(RetryMachineSetupTest, AnAttemptEndsAtItsLimitOrTheDeadline) {
  auto policy = ListedPolicy();
  policy->attempt_timeout = Ms(300);
  CallSetup setup = SetupFor(policy);
  setup.caller_deadline = kStart + Ms(500);
  MachineDriver call(std::move(setup));
  call.Start();
  const StartAttempt first = absl::get<StartAttempt>(call.actions()[0]);
  EXPECT_EQ(first.deadline, kStart + Ms(300));
  EXPECT_EQ(first.timeout, Ms(300));
  call.Advance(Ms(200));
  call.Done(1, Failure(kUnavailable));
  call.Advance(Ms(100));
  call.Wake();
  const StartAttempt second = absl::get<StartAttempt>(call.actions()[0]);
  EXPECT_EQ(second.deadline, kStart + Ms(500));
  EXPECT_EQ(second.timeout, absl::InfiniteDuration());
  call.Advance(Ms(200));
  EXPECT_THAT(call.Done(2, Failure(kDeadlineExceeded)),
              ElementsAre("finish 2 DEADLINE"));
  EXPECT_EQ(call.Report().attempts[1].outcome_class, OutcomeClass::kDeadline);
}

TEST_F(RetryMachineSetupTest, ALimitThatEndsWithTheDeadlineIsTheDeadline) {
  auto policy = ListedPolicy();
  policy->attempt_timeout = policy->timeout = Ms(300);
  MachineDriver call(SetupFor(policy));
  call.Start();
  EXPECT_EQ(absl::get<StartAttempt>(call.actions()[0]).timeout,
            absl::InfiniteDuration());
  call.Advance(Ms(300));
  EXPECT_THAT(call.Done(1, Failure(kDeadlineExceeded)),
              ElementsAre("finish 1 DEADLINE"));
  EXPECT_EQ(call.Report().attempts[0].outcome_class, OutcomeClass::kDeadline);
}

TEST_F(RetryMachineSetupTest, ATimeoutThatTheTransportKeptIsToldByTheClock) {
  auto policy = DefaultClassesPolicy();
  policy->idempotency = Idempotency::kIdempotent;
  policy->attempt_timeout = Ms(300);
  for (const double after : {298.5, 300.0, 301.0}) {
    MachineDriver call(SetupFor(policy));
    call.Start();
    call.Advance(Ms(after));
    EXPECT_THAT(call.Done(1, Failure(kDeadlineExceeded)),
                ElementsAre("wait 100ms BACKOFF"))
        << after;
  }
  MachineDriver early(SetupFor(policy));
  early.Start();
  early.Advance(Ms(200));
  EXPECT_THAT(early.Done(1, Failure(kDeadlineExceeded)),
              ElementsAre("finish 1 PERMANENT"));
}

TEST_F(RetryMachineSetupTest, ALateTimerStartsNothingAfterDeadlineOrWindow) {
  CallSetup with_deadline = SetupFor(ListedPolicy());
  with_deadline.caller_deadline = kStart + Ms(150);
  auto policy = ListedPolicy();
  policy->retry_window = Ms(150);
  CallSetup with_window = SetupFor(policy);
  for (auto& [setup, finish] : std::vector<std::pair<CallSetup, std::string>>{
           {with_deadline, "finish 1 DEADLINE"},
           {with_window, "finish 1 RETRY_WINDOW"}}) {
    const auto operation = OperationOf(5);
    setup.operation = operation;
    MachineDriver call(setup);
    call.Start();
    call.Done(1, Failure(kUnavailable, "disk full"));
    EXPECT_EQ(operation->requests_used(), 2);
    call.Advance(Ms(151));
    EXPECT_THAT(call.Wake(), ElementsAre(finish));
    EXPECT_EQ(call.Report().code, kUnavailable);
    EXPECT_EQ(operation->requests_used(), 1);
  }
}

// ---- Step 14: request budget, then retry budget. ----

TEST_F(RetryMachineSetupTest, ARequestBudgetRefusesFirstAttemptsToo) {
  const auto operation = OperationOf(1);
  ASSERT_TRUE(operation->TryTake());
  CallSetup setup = SetupFor(ListedPolicy());
  setup.operation = operation;
  MachineDriver call(std::move(setup));
  EXPECT_THAT(call.Start(), ElementsAre("finish 0 REQUEST_BUDGET"));
  EXPECT_THAT(call.status(), StatusIs(absl::StatusCode::kResourceExhausted,
                                      "request budget of 1 used"));
  EXPECT_FALSE(call.Report().permanent);
}

TEST_F(RetryMachineSetupTest, TheOperationsWindowHoldsForAllItsCalls) {
  const auto operation = OperationOf(9, Ms(150));
  CallSetup setup = SetupFor(ListedPolicy());
  setup.operation = operation;
  MachineDriver first(setup);
  first.Start();
  EXPECT_THAT(first.Done(1, Failure(kUnavailable)),
              ElementsAre("wait 100ms BACKOFF"));
  MachineDriver second(setup);
  second.Advance(Ms(60));
  second.Start();
  EXPECT_THAT(second.Done(1, Failure(kUnavailable)),
              ElementsAre("finish 1 RETRY_WINDOW"));
  MachineDriver third(setup);
  third.Advance(Ms(151));
  EXPECT_THAT(third.Start(), ElementsAre("finish 0 RETRY_WINDOW"));
  EXPECT_THAT(third.status(), StatusIs(kDeadlineExceeded));
  EXPECT_EQ(operation->requests_used(), 3);
}

TEST_F(RetryMachineSetupTest, BudgetsPayLastAndTheRequestBudgetFirst) {
  struct Row {
    std::string name;
    int64_t requests;
    int64_t retries;
    absl::Duration deadline;
    std::string line;
    int64_t used;
    int64_t retrying;
  };
  const std::vector<Row> rows = {
      {"both pay", 2, 1, Ms(500), "wait 100ms BACKOFF", 2, 1},
      {"no request left", 1, 1, Ms(500), "finish 1 REQUEST_BUDGET", 1, 0},
      {"no retry left: the request is given back", 2, 0, Ms(500),
       "finish 1 BUDGET_EXHAUSTED", 1, 0},
      {"neither", 1, 0, Ms(500), "finish 1 REQUEST_BUDGET", 1, 0},
      {"a wait that does not fit costs nothing", 2, 1, Ms(50),
       "finish 1 DEADLINE", 1, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto policy = ListedPolicy();
    const auto budget = AtMostRetrying(row.retries);
    policy->retry_budget = budget;
    const auto operation = OperationOf(row.requests);
    CallSetup setup = SetupFor(policy);
    setup.operation = operation;
    setup.caller_deadline = kStart + row.deadline;
    {
      MachineDriver call(std::move(setup));
      call.Start();
      EXPECT_EQ(budget->active_calls(), 1);
      EXPECT_THAT(call.Done(1, Failure(kUnavailable)), ElementsAre(row.line));
      EXPECT_EQ(operation->requests_used(), row.used);
      EXPECT_EQ(budget->retrying_calls(), row.retrying);
      EXPECT_EQ(budget->active_calls(), row.retrying);
    }
    // Dropped in the wait: what was taken for the retry is given back.
    EXPECT_EQ(operation->requests_used(), 1);
    EXPECT_EQ(budget->retrying_calls(), 0);
    EXPECT_EQ(budget->active_calls(), 0);
  }
}

}  // namespace
}  // namespace redial
