#include "redial/testing/machine_simulator.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/policy.h"
#include "redial/core/retry_machine.h"
#include "redial/testing/fixed_random.h"
#include "redial/testing/matchers.h"

namespace redial {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr absl::StatusCode kUnavailable = absl::StatusCode::kUnavailable;

absl::Duration Ms(int n) { return absl::Milliseconds(n); }

// 100 ms, 200 ms, ... up to 1 s, exactly (with a fraction of one half).
std::shared_ptr<MethodPolicy> Policy() {
  auto policy = std::make_shared<MethodPolicy>();
  policy->retry.emplace();
  policy->retry->max_attempts = 4;
  policy->retry->backoff.form = BackoffForm::kProportional;
  policy->retry->backoff.base = Ms(100);
  policy->retry->backoff.max = absl::Seconds(1);
  policy->retry->classifier.retryable_codes = CodeSet{kUnavailable};
  return policy;
}

class MachineSimulatorTest : public ::testing::Test {
 protected:
  FixedRandom random_{0.5};
};

TEST_F(MachineSimulatorTest, RetriesUntilTheScriptSaysOk) {
  MachineSimulator simulator({SimulatedAnswer::Error(kUnavailable).After(Ms(5)),
                              SimulatedAnswer::Error(kUnavailable),
                              SimulatedAnswer::Ok().After(Ms(7))});
  RetryMachine machine(simulator.Setup(Policy(), &random_));
  const SimulationResult result = simulator.Run(machine);
  EXPECT_THAT(result.status, IsOk());
  EXPECT_THAT(result.report, Attempts(3));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kSuccess));
  EXPECT_THAT(result.report, Waits(Ms(100), Ms(200)));
  EXPECT_EQ(result.report.elapsed, Ms(312));
  EXPECT_THAT(result.trace,
              ElementsAre("0 start 1 FIRST", "5ms done 1 UNAVAILABLE",
                          "5ms wait 100ms BACKOFF", "105ms start 2 RETRY",
                          "105ms done 2 UNAVAILABLE",
                          "105ms wait 200ms BACKOFF", "305ms start 3 RETRY",
                          "312ms done 3 OK", "312ms finish 3 SUCCESS"));
  EXPECT_THAT(result.violations, IsEmpty());
}

TEST_F(MachineSimulatorTest, TheLastAnswerRepeats) {
  MachineSimulator simulator({SimulatedAnswer::Error(kUnavailable, "full")});
  RetryMachine machine(simulator.Setup(Policy(), &random_));
  const SimulationResult result = simulator.Run(machine);
  EXPECT_THAT(result.status, StatusIs(kUnavailable, "full"));
  EXPECT_THAT(result.report, Attempts(Ge(4)));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kAttemptsExhausted));
  EXPECT_THAT(result.violations, IsEmpty());
}

TEST_F(MachineSimulatorTest, AHangingAttemptEndsAtItsTimeoutOrTheDeadline) {
  auto policy = Policy();
  policy->attempt_timeout = Ms(50);
  policy->retry->attempt_timeout_retry = AttemptTimeoutRetry::kAlways;
  MachineSimulator simulator({SimulatedAnswer::Hang()});
  RetryMachine machine(simulator.Setup(policy, &random_, Ms(170)));
  const SimulationResult result = simulator.Run(machine);
  EXPECT_THAT(result.status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(result.report, Attempts(2));
  EXPECT_THAT(result.report, StoppedBecause(StopReason::kDeadline));
  EXPECT_EQ(result.report.elapsed, Ms(170));
  EXPECT_EQ(result.report.attempts[0].outcome_class,
            OutcomeClass::kAttemptTimeout);
  EXPECT_EQ(result.report.attempts[1].outcome_class, OutcomeClass::kDeadline);
  EXPECT_THAT(result.violations, IsEmpty());
}

TEST_F(MachineSimulatorTest, ACancelEndsAnAttemptAWaitOrTheCallAtOnce) {
  struct Row {
    std::string name;
    absl::Duration at;
    int attempts;
    absl::Duration elapsed;
  };
  const std::vector<Row> rows = {
      {"before the start", absl::ZeroDuration(), 0, absl::ZeroDuration()},
      {"in the first attempt", Ms(4), 1, Ms(4)},
      {"in the wait", Ms(50), 1, Ms(50)},
      {"in the second attempt", Ms(115), 2, Ms(115)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    MachineSimulator simulator(
        {SimulatedAnswer::Error(kUnavailable).After(Ms(10))});
    simulator.CancelAt(row.at);
    RetryMachine machine(simulator.Setup(Policy(), &random_));
    const SimulationResult result = simulator.Run(machine);
    EXPECT_THAT(result.status, StatusIs(absl::StatusCode::kCancelled));
    EXPECT_THAT(result.report, StoppedBecause(StopReason::kCancelled));
    EXPECT_THAT(result.report, Attempts(row.attempts));
    EXPECT_EQ(result.report.elapsed, row.elapsed);
    EXPECT_THAT(result.violations, IsEmpty());
  }
}

TEST_F(MachineSimulatorTest, AnswersCarryWhatTheServerAskedFor) {
  struct Row {
    std::string name;
    SimulatedAnswer answer;
    WaitSource from;
    absl::Duration wait;
  };
  const SimulatedAnswer error = SimulatedAnswer::Error(kUnavailable);
  const std::vector<Row> rows = {
      {"pushback",
       SimulatedAnswer(error).WithTrailer("grpc-retry-pushback-ms", "40"),
       WaitSource::kPushback, Ms(40)},
      {"RetryInfo", SimulatedAnswer(error).WithRetryInfo(Ms(2500)),
       WaitSource::kRetryInfo, Ms(2500)},
      {"nothing", error, WaitSource::kBackoff, Ms(100)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    MachineSimulator simulator({row.answer, SimulatedAnswer::Ok()});
    RetryMachine machine(simulator.Setup(Policy(), &random_));
    const SimulationResult result = simulator.Run(machine);
    ASSERT_THAT(result.report, Attempts(2));
    EXPECT_EQ(result.report.attempts[1].wait, row.wait);
    EXPECT_EQ(result.report.attempts[1].wait_from, row.from);
  }
}

TEST_F(MachineSimulatorTest, HeadersAndWhatWasHandedOverCommit) {
  SimulatedAnswer handed_over =
      SimulatedAnswer::Error(kUnavailable).After(Ms(9));
  handed_over.handed_over_after = Ms(3);
  for (const SimulatedAnswer& answer :
       {SimulatedAnswer::Error(kUnavailable).WithHeaders(), handed_over}) {
    MachineSimulator simulator({answer});
    RetryMachine machine(simulator.Setup(Policy(), &random_));
    const SimulationResult result = simulator.Run(machine);
    EXPECT_THAT(result.report, Attempts(1));
    EXPECT_THAT(result.report, StoppedBecause(StopReason::kCommitted));
    EXPECT_THAT(result.violations, IsEmpty());
  }
}

TEST_F(MachineSimulatorTest, ACallThatCannotEndIsAViolation) {
  MachineSimulator simulator({SimulatedAnswer::Hang()});
  RetryMachine machine(simulator.Setup(Policy(), &random_));
  const SimulationResult result = simulator.Run(machine);
  EXPECT_FALSE(result.finished);
  EXPECT_THAT(result.violations, Contains(HasSubstr("has not finished")));
}

// A machine with every fault that a simulation has to notice.
class BrokenMachine final : public CallMachine {
 public:
  enum class Fault {
    kTwoFinishes,
    kWrongNumber,
    kAfterDeadline,
    kLoserNotCancelled,
    kWrongReport,
    kWaitPastDeadline,
    kFinishWithoutEnd,
    kForever,
  };
  explicit BrokenMachine(Fault fault) : fault_(fault) {}

  void Start(Instant, Actions* actions) override {
    StartAttempt start;
    if (fault_ == Fault::kWrongNumber) start.number = 2;
    actions->push_back(start);
    if (fault_ == Fault::kLoserNotCancelled) {
      start.number = 2;
      start.kind = AttemptKind::kHedge;
      actions->push_back(start);
    }
    if (fault_ == Fault::kFinishWithoutEnd) End(actions);
  }
  void AttemptDone(int, const Outcome&, Instant now,
                   Actions* actions) override {
    if (finished_) return;
    if (fault_ == Fault::kWaitPastDeadline || fault_ == Fault::kForever) {
      WaitUntil wait;
      wait.wait = fault_ == Fault::kForever ? Ms(0) : absl::Hours(1);
      wait.time = now + wait.wait;
      actions->push_back(wait);
      return;
    }
    End(actions);
    if (fault_ == Fault::kTwoFinishes) End(actions);
  }
  void Committed(int) override {}
  void Wake(Instant now, Actions* actions) override {
    if (fault_ == Fault::kForever) {
      AttemptDone(1, Outcome(), now, actions);
    } else {
      End(actions);
    }
  }
  void End(EndCause, Instant, Actions*) override {}
  bool finished() const override { return finished_; }
  Instant deadline() const override {
    return fault_ == Fault::kAfterDeadline ? Instant()
                                           : Instant::FromEpoch(Ms(100));
  }
  CallReport Report(Instant) const override {
    CallReport report;
    report.attempts.resize(fault_ == Fault::kLoserNotCancelled ? 2 : 1);
    report.attempts.back().number = static_cast<int>(report.attempts.size());
    if (report.attempts.size() == 2) {
      report.attempts[1].kind = AttemptKind::kHedge;
    }
    if (fault_ == Fault::kWrongReport) report.attempts.clear();
    return report;
  }

 private:
  void End(Actions* actions) {
    finished_ = true;
    Finish finish;
    finish.attempt = 1;
    actions->push_back(finish);
  }
  const Fault fault_;
  bool finished_ = false;
};

TEST(SimulatedCallTest, NoticesAMachineThatBreaksItsContract) {
  using Fault = BrokenMachine::Fault;
  struct Row {
    Fault fault;
    std::string violation;
  };
  const std::vector<Row> rows = {
      {Fault::kTwoFinishes, "a second Finish"},
      {Fault::kWrongNumber, "attempt 2 in place of 1"},
      {Fault::kAfterDeadline, "begins after the call's deadline"},
      {Fault::kLoserNotCancelled, "attempt 2 lost and was not cancelled"},
      {Fault::kWrongReport, "the report has 0 attempts; made were 1"},
      {Fault::kWaitPastDeadline, "a wait that ends after the call's deadline"},
      {Fault::kFinishWithoutEnd, "names an attempt that has not ended"},
      {Fault::kForever, "goes on for ever"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.violation);
    SimulatedAnswer slow = SimulatedAnswer::Ok().After(Ms(1));
    MachineSimulator simulator({SimulatedAnswer::Ok(), slow});
    BrokenMachine machine(row.fault);
    EXPECT_THAT(simulator.Run(machine).violations,
                Contains(HasSubstr(row.violation)));
  }
}

}  // namespace
}  // namespace redial
