// Event by event: what each event does in each state.
#include "redial/core/retry_machine.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/outcome.h"
#include "redial/core/policy.h"
#include "redial/testing/fixed_random.h"
#include "redial/testing/matchers.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

constexpr absl::StatusCode kUnavailable = absl::StatusCode::kUnavailable;
constexpr absl::StatusCode kCancelled = absl::StatusCode::kCancelled;
constexpr absl::StatusCode kDeadlineExceeded =
    absl::StatusCode::kDeadlineExceeded;

class RetryMachineTest : public ::testing::Test {
 protected:
  CallSetup SetupFor(std::shared_ptr<const MethodPolicy> policy) {
    CallSetup setup;
    setup.policy = std::move(policy);
    setup.random = &half_;
    setup.start = Instant::FromEpoch(absl::Hours(1));
    return setup;
  }
  FixedRandom half_{0.5};
};

// ---- Every cause in every state. ----

struct EndRow {
  std::string name;
  EndCause cause;
  // Ended before Start, and what Start then does.
  std::string before_start;
  absl::StatusCode before_start_code;
  // Ended in attempt 2, which then ends with CANCELLED (or, where it is not cut
  // off, with UNAVAILABLE).
  Lines in_attempt;
  std::string after_attempt;
  // Ended in the wait for attempt 2.
  std::string in_wait;
};

std::vector<EndRow> EndRows() {
  return {
      {"caller",
       EndCause::kCaller,
       "finish 0 CANCELLED",
       kCancelled,
       {"cancel 2"},
       "finish 2 CANCELLED",
       "finish 0 CANCELLED"},
      {"parent",
       EndCause::kParent,
       "finish 0 CANCELLED",
       kCancelled,
       {"cancel 2"},
       "finish 2 CANCELLED",
       "finish 0 CANCELLED"},
      {"parent deadline",
       EndCause::kParentDeadline,
       "finish 0 DEADLINE",
       kDeadlineExceeded,
       {"cancel 2"},
       "finish 0 DEADLINE",
       "finish 0 DEADLINE"},
      {"drain",
       EndCause::kDrain,
       "finish 0 SHUTDOWN",
       kUnavailable,
       {},
       "finish 2 SHUTDOWN",
       "finish 1 SHUTDOWN"},
      {"shutdown",
       EndCause::kShutdown,
       "finish 0 SHUTDOWN",
       kUnavailable,
       {"cancel 2"},
       "finish 2 SHUTDOWN",
       "finish 1 SHUTDOWN"},
  };
}

TEST_F(RetryMachineTest, EndBeforeStartSendsNothing) {
  for (const EndRow& row : EndRows()) {
    SCOPED_TRACE(row.name);
    MachineDriver call(SetupFor(ListedPolicy()));
    EXPECT_THAT(call.End(row.cause), IsEmpty());
    EXPECT_FALSE(call.machine().finished());
    EXPECT_THAT(call.Start(), ElementsAre(row.before_start));
    EXPECT_EQ(call.status().code(), row.before_start_code);
    EXPECT_EQ(call.Report().code, row.before_start_code);
    EXPECT_THAT(call.Report(), Attempts(0));
    EXPECT_FALSE(call.Report().permanent);
  }
}

TEST_F(RetryMachineTest, EndInAnAttempt) {
  for (const EndRow& row : EndRows()) {
    SCOPED_TRACE(row.name);
    MachineDriver call(SetupFor(ListedPolicy()));
    call.Start();
    call.Done(1, Failure(kUnavailable));
    call.Wake();
    EXPECT_EQ(call.End(row.cause), row.in_attempt);
    EXPECT_EQ(call.End(row.cause), Lines()) << "a second time";
    EXPECT_FALSE(call.machine().finished());
    const bool cut_off = !row.in_attempt.empty();
    EXPECT_THAT(call.Done(2, Failure(cut_off ? kCancelled : kUnavailable)),
                ElementsAre(row.after_attempt));
    EXPECT_TRUE(call.machine().finished());
    EXPECT_FALSE(call.Report().permanent);
  }
}

TEST_F(RetryMachineTest, EndInAWaitFinishesAtOnceWithTheLastFailure) {
  for (const EndRow& row : EndRows()) {
    SCOPED_TRACE(row.name);
    MachineDriver call(SetupFor(ListedPolicy()));
    call.Start();
    call.Done(1, Failure(kUnavailable, "disk full"));
    EXPECT_THAT(call.End(row.cause), ElementsAre(row.in_wait));
    if (!call.status().ok()) {
      EXPECT_THAT(call.status().message(),
                  AllOf(HasSubstr("while waiting to retry"),
                        HasSubstr("UNAVAILABLE: disk full")));
    }
    EXPECT_THAT(call.Wake(), IsEmpty());
  }
}

TEST_F(RetryMachineTest, AnAnswerThatOvertookTheEndIsTheAnswer) {
  for (const EndRow& row : EndRows()) {
    SCOPED_TRACE(row.name);
    MachineDriver call(SetupFor(ListedPolicy()));
    call.Start();
    call.End(row.cause);
    EXPECT_THAT(call.Done(1, Outcome()), ElementsAre("finish 1 SUCCESS"));
  }
}

TEST_F(RetryMachineTest, AFailureThatOvertookACancelIsStillACancel) {
  for (const EndCause cause : {EndCause::kCaller, EndCause::kParent}) {
    MachineDriver call(SetupFor(ListedPolicy()));
    call.Start();
    call.End(cause);
    EXPECT_THAT(call.Done(1, Failure(kUnavailable)),
                ElementsAre("finish 0 CANCELLED"));
    EXPECT_THAT(call.status(), StatusIs(kCancelled));
  }
}

TEST_F(RetryMachineTest, TheFirstCauseStaysButADrainGivesWay) {
  struct Row {
    std::string name;
    EndCause first;
    EndCause second;
    Lines at_second;
    std::string finish;
  };
  const std::vector<Row> rows = {
      {"drain, then cancel",
       EndCause::kDrain,
       EndCause::kCaller,
       {"cancel 1"},
       "finish 1 CANCELLED"},
      {"drain, then shutdown",
       EndCause::kDrain,
       EndCause::kShutdown,
       {"cancel 1"},
       "finish 1 SHUTDOWN"},
      {"cancel, then drain",
       EndCause::kCaller,
       EndCause::kDrain,
       {},
       "finish 1 CANCELLED"},
      {"cancel, then shutdown",
       EndCause::kCaller,
       EndCause::kShutdown,
       {},
       "finish 1 CANCELLED"},
      {"shutdown, then cancel",
       EndCause::kShutdown,
       EndCause::kCaller,
       {},
       "finish 1 SHUTDOWN"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    MachineDriver call(SetupFor(ListedPolicy()));
    call.Start();
    call.End(row.first);
    EXPECT_EQ(call.End(row.second), row.at_second);
    EXPECT_THAT(call.Done(1, Failure(kCancelled)), ElementsAre(row.finish));
  }
}

TEST_F(RetryMachineTest, ADrainedAttemptStillReportsWhyItFailed) {
  MachineDriver call(SetupFor(ListedPolicy()));
  call.Start();
  call.End(EndCause::kDrain);
  EXPECT_THAT(call.Done(1, Failure(absl::StatusCode::kNotFound)),
              ElementsAre("finish 1 PERMANENT"));
}

// The class of an attempt that we cut off ourselves is not that of the code,
// whatever the policy says of CANCELLED.
TEST_F(RetryMachineTest, WhatWeCutOffIsNoFailureOfTheServer) {
  struct Row {
    std::string name;
    EndCause cause;
    OutcomeClass outcome_class;
  };
  for (const Row& row : std::vector<Row>{
           {"caller", EndCause::kCaller, OutcomeClass::kCancelled},
           {"parent", EndCause::kParent, OutcomeClass::kCancelled},
           {"shutdown", EndCause::kShutdown, OutcomeClass::kCancelled},
           {"parent deadline", EndCause::kParentDeadline,
            OutcomeClass::kDeadline},
       }) {
    for (const bool listed : {false, true}) {
      SCOPED_TRACE(row.name + (listed ? ", CANCELLED listed" : ""));
      auto policy = ListedPolicy();
      if (listed) policy->retry->classifier.retryable_codes->Add(kCancelled);
      CallSetup setup = SetupFor(policy);
      setup.throttle =
          std::make_shared<RetryThrottle>(ThrottleParameters{4000, 1000});
      const std::shared_ptr<RetryThrottle> throttle = setup.throttle;
      MachineDriver call(std::move(setup));
      call.Start();
      call.End(row.cause);
      call.Done(1, Failure(kCancelled));
      EXPECT_TRUE(call.machine().finished());
      EXPECT_EQ(OutcomeClassName(call.Report().attempts[0].outcome_class),
                OutcomeClassName(row.outcome_class));
      EXPECT_FALSE(call.Report().permanent);
      EXPECT_EQ(throttle->milli_tokens(), 4000);
    }
  }
}

TEST_F(RetryMachineTest, ARemoteCancelledIsNotTheCallers) {
  auto policy = ListedPolicy();
  policy->retry->classifier.retryable_codes->Add(kCancelled);
  MachineDriver listed(SetupFor(policy));
  listed.Start();
  EXPECT_THAT(listed.Done(1, Failure(kCancelled)),
              ElementsAre("wait 100ms BACKOFF"));
  MachineDriver by_default(SetupFor(DefaultClassesPolicy()));
  by_default.Start();
  EXPECT_THAT(by_default.Done(1, Failure(kCancelled)),
              ElementsAre("finish 1 PERMANENT"));
}

// ---- Events that do not fit. ----

TEST_F(RetryMachineTest, EventsOutOfTurnDoNothing) {
  MachineDriver call(SetupFor(ListedPolicy()));
  EXPECT_THAT(call.Wake(), IsEmpty());
  EXPECT_THAT(call.Done(1, Failure(kUnavailable)), IsEmpty());
  EXPECT_THAT(call.Start(), ElementsAre("start 1 FIRST"));
  EXPECT_THAT(call.Start(), IsEmpty());
  EXPECT_THAT(call.Wake(), IsEmpty());
  for (const int stale : {-1, 0, 2}) {
    EXPECT_THAT(call.Done(stale, Outcome()), IsEmpty()) << stale;
  }
  EXPECT_THAT(call.Done(1, Failure(kUnavailable)),
              ElementsAre("wait 100ms BACKOFF"));
  EXPECT_THAT(call.Done(1, Outcome()), IsEmpty()) << "twice";
  EXPECT_THAT(call.Start(), IsEmpty());
  EXPECT_THAT(call.Wake(), ElementsAre("start 2 RETRY"));
  EXPECT_THAT(call.Done(1, Outcome()), IsEmpty()) << "stale";
  EXPECT_THAT(call.Done(2, Outcome()), ElementsAre("finish 2 SUCCESS"));
  EXPECT_THAT(call.Done(2, Outcome()), IsEmpty());
  EXPECT_THAT(call.Wake(), IsEmpty());
  EXPECT_THAT(call.Start(), IsEmpty());
  EXPECT_THAT(call.End(EndCause::kCaller), IsEmpty());
  call.machine().Committed(2);
  EXPECT_THAT(call.Report(), Attempts(2));
  EXPECT_THAT(call.Report(), StoppedBecause(StopReason::kSuccess));
}

TEST_F(RetryMachineTest, CommittedHoldsForTheAttemptInFlight) {
  MachineDriver stale(SetupFor(ListedPolicy()));
  stale.Start();
  stale.Done(1, Failure(kUnavailable));
  stale.Wake();
  stale.machine().Committed(1);
  stale.machine().Committed(3);
  EXPECT_THAT(stale.Done(2, Failure(kUnavailable)),
              ElementsAre("wait 200ms BACKOFF"));

  MachineDriver call(SetupFor(ListedPolicy()));
  call.Start();
  call.machine().Committed(1);
  EXPECT_THAT(call.Done(1, Failure(kUnavailable)),
              ElementsAre("finish 1 COMMITTED"));
}

}  // namespace
}  // namespace redial
