// What holds for every call, whatever its policy and whatever comes in. The
// seed is printed; set REDIAL_TEST_SEED to run it again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/variant.h"
#include "gtest/gtest.h"
#include "redial/core/operation.h"
#include "redial/core/policy.h"
#include "redial/core/retry_budget.h"
#include "redial/core/retry_machine.h"
#include "redial/core/throttle.h"
#include "redial/testing/fixed_random.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

uint64_t Seed() {
  uint64_t seed = 0;
  const char* given = std::getenv("REDIAL_TEST_SEED");
  if (given == nullptr || !absl::SimpleAtoi(given, &seed)) {
    seed = std::random_device()();
  }
  std::cout << "REDIAL_TEST_SEED=" << seed << std::endl;
  return seed;
}

// Choices of one test, from one seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  int Upto(int n) { return static_cast<int>(random_.NextBits() % (n + 1)); }
  bool OneIn(int n) { return Upto(n - 1) == 0; }
  absl::Duration Length(int max_ms) {
    return OneIn(2) ? absl::InfiniteDuration() : Ms(1 + Upto(max_ms));
  }
  RandomSource* random() { return &random_; }

 private:
  SeededRandom random_;
};

absl::StatusCode AnyFailure(Dice& dice) {
  // Mostly the codes that policies here list.
  return dice.OneIn(5) ? static_cast<absl::StatusCode>(1 + dice.Upto(15))
                       : absl::StatusCode::kUnavailable;
}

std::shared_ptr<MethodPolicy> AnyPolicy(Dice& dice) {
  if (dice.OneIn(20)) return nullptr;
  auto policy = std::make_shared<MethodPolicy>();
  policy->timeout = dice.Length(3000);
  policy->attempt_timeout = dice.Length(500);
  policy->retry_window = dice.Length(2000);
  policy->deadline_reserve = Ms(dice.Upto(50));
  if (dice.OneIn(2)) policy->idempotency = Idempotency::kIdempotent;
  if (dice.OneIn(20)) return policy;
  RetryPolicy& retry = policy->retry.emplace();
  retry.max_attempts = dice.OneIn(10) ? dice.Upto(1) : 2 + dice.Upto(5);
  retry.backoff.form = static_cast<BackoffForm>(dice.Upto(5));
  retry.backoff.base = Ms(1 + dice.Upto(100));
  retry.backoff.max = Ms(1 + dice.Upto(400));
  retry.pushback.cap = Ms(200);
  retry.pushback.clamp = dice.OneIn(2);
  retry.headers_commit = dice.OneIn(2);
  retry.attempt_timeout_retry = static_cast<AttemptTimeoutRetry>(dice.Upto(2));
  if (dice.OneIn(2)) {
    retry.classifier.retryable_codes =
        CodeSet{absl::StatusCode::kUnavailable, AnyFailure(dice)};
  }
  return policy;
}

Outcome AnyOutcome(Dice& dice) {
  Outcome outcome;
  if (!dice.OneIn(20)) outcome = Failure(AnyFailure(dice), "why");
  outcome.headers_received = dice.OneIn(20);
  outcome.handed_over = dice.OneIn(20);
  outcome.unprocessed = dice.OneIn(10);
  outcome.attempt_timed_out =
      outcome.code == absl::StatusCode::kDeadlineExceeded && dice.OneIn(2);
  if (dice.OneIn(20)) outcome.replay = Replay::kOneShot;
  if (dice.OneIn(20)) outcome.pushback = AskedToStop();
  if (dice.OneIn(5)) {
    outcome.pushback =
        Asked(static_cast<WaitSource>(2 + dice.Upto(2)), Ms(dice.Upto(300)));
  }
  return outcome;
}

// Feeds one machine at random and keeps its own account of what came out.
class RandomCall {
 public:
  RandomCall(Dice& dice, CallSetup setup)
      : dice_(dice),
        setup_(setup),
        now_(setup.start),
        machine_(CallSetup(setup)) {}

  // Events in any order, fitting or not.
  void Shake() {
    if (!dice_.OneIn(5)) {
      machine_.Start(now_, &actions_);
      Check(Outcome());
    }
    const int events = dice_.Upto(60);
    for (int i = 0; i < events && !HasFailure(); ++i) {
      if (dice_.OneIn(2)) now_ = now_ + Ms(dice_.Upto(120));
      Event();
    }
  }
  // What a sound adapter does to reach the end.
  void Complete() {
    machine_.Start(now_, &actions_);
    Check(Outcome());
    machine_.End(EndCause::kCaller, now_, &actions_);
    Check(Outcome());
    if (in_flight_) Done(started_, Failure(absl::StatusCode::kCancelled));
    EXPECT_EQ(finishes_, 1);
    EXPECT_TRUE(machine_.finished());
    for (int i = 0; i < 5; ++i) Event();
    const CallReport report = machine_.Report(now_);
    EXPECT_EQ(static_cast<int>(report.attempts.size()), started_);
    EXPECT_NE(report.code == absl::StatusCode::kOk,
              report.stop_reason != StopReason::kSuccess);
  }

  int started() const { return started_; }
  // Requests that are sent, or kept for the wait that goes on.
  int requests() const { return started_ + (waiting_ ? 1 : 0); }

 private:
  static bool HasFailure() { return ::testing::Test::HasFailure(); }

  void Event() {
    switch (dice_.Upto(7)) {
      case 0:
        machine_.Start(now_, &actions_);
        return Check(Outcome());
      case 1:
      case 2:
        return Wake();
      case 3:
        // Stale, of the future, twice: whatever is not in flight.
        return Done(started_ + dice_.Upto(4) - 2, AnyOutcome(dice_));
      case 4:
        if (!dice_.OneIn(10)) return Wake();
        machine_.End(static_cast<EndCause>(dice_.Upto(4)), now_, &actions_);
        return Check(Outcome());
      case 5:
        if (dice_.OneIn(8)) machine_.Committed(dice_.Upto(started_ + 1));
        return;
      default:
        return Done(started_, AnyOutcome(dice_));
    }
  }

  void Wake() {
    // A timer may be late, never early.
    if (waiting_ && dice_.OneIn(2)) now_ = std::max(now_, wake_at_);
    if (waiting_ && now_ < wake_at_) return;
    machine_.Wake(now_, &actions_);
    Check(Outcome());
  }

  void Done(int number, const Outcome& outcome) {
    const bool counts = in_flight_ && number == started_;
    if (counts) in_flight_ = false;
    machine_.AttemptDone(number, outcome, now_, &actions_);
    if (!counts) {
      EXPECT_TRUE(actions_.empty()) << "from an attempt not in flight";
    } else {
      EXPECT_EQ(actions_.size(), 1u);
    }
    Check(outcome);
  }

  // `last`: what was reported, if anything was.
  void Check(const Outcome& last) {
    for (const CallMachine::Action& action : actions_) {
      EXPECT_EQ(finishes_, 0) << "an action after Finish";
      const bool was_waiting = std::exchange(waiting_, false);
      if (const auto* start = absl::get_if<StartAttempt>(&action)) {
        EXPECT_EQ(start->number, ++started_);
        EXPECT_EQ(start->kind == AttemptKind::kFirst, started_ == 1);
        EXPECT_EQ(was_waiting, started_ > 1);
        EXPECT_FALSE(std::exchange(in_flight_, true));
        CheckTime(now_);
        EXPECT_GT(start->deadline, now_);
        EXPECT_LE(start->deadline, machine_.deadline());
      } else if (const auto* wait = absl::get_if<WaitUntil>(&action)) {
        waiting_ = true;
        wake_at_ = wait->time;
        CheckWait(*wait, last);
      } else if (const auto* cancel = absl::get_if<CancelAttempt>(&action)) {
        EXPECT_TRUE(in_flight_);
        EXPECT_EQ(cancel->number, started_);
      } else if (const auto* finish = absl::get_if<Finish>(&action)) {
        ++finishes_;
        EXPECT_FALSE(in_flight_);
        EXPECT_LE(finish->attempt, started_);
        EXPECT_TRUE(finish->attempt != 0 || !finish->status.ok());
        EXPECT_EQ(finish->reason, machine_.Report(now_).stop_reason);
      }
    }
    actions_.clear();
    EXPECT_EQ(machine_.finished(), finishes_ == 1);
    const int max = setup_.policy != nullptr && setup_.policy->retry.has_value()
                        ? setup_.policy->retry->max_attempts
                        : 1;
    EXPECT_LE(started_, std::max(max, 1));
  }

  void CheckTime(Instant at) {
    EXPECT_LT(at, machine_.deadline());
    if (started_ > 1 || waiting_) {
      EXPECT_LE(at, setup_.start + setup_.policy->retry_window);
      EXPECT_LE(at, setup_.operation->window_end());
    }
  }

  // Also the properties of gRPC core's retry state.
  void CheckWait(const WaitUntil& wait, const Outcome& last) {
    ASSERT_TRUE(setup_.policy != nullptr && setup_.policy->retry.has_value());
    const RetryPolicy& policy = *setup_.policy->retry;
    EXPECT_EQ(wait.time, now_ + wait.wait);
    EXPECT_EQ(wait.next_attempt, started_ + 1);
    CheckTime(wait.time);
    EXPECT_FALSE(last.ok());
    EXPECT_FALSE(last.handed_over);
    EXPECT_FALSE(last.headers_received && policy.headers_commit);
    EXPECT_EQ(last.replay, Replay::kPossible);
    EXPECT_NE(last.pushback.kind, Pushback::Kind::kStop);
    if (policy.classifier.retryable_codes.has_value() &&
        last.code != absl::StatusCode::kDeadlineExceeded) {
      EXPECT_TRUE(policy.classifier.retryable_codes->Contains(last.code));
    }
    if (wait.wait_from == WaitSource::kBackoff) {
      EXPECT_GE(wait.wait, absl::ZeroDuration());
      EXPECT_LE(wait.wait, policy.backoff.max * 1.25);
    } else {
      EXPECT_EQ(wait.wait_from, last.pushback.source);
      EXPECT_LE(wait.wait, last.pushback.delay);
      const bool cut = policy.pushback.clamp && wait.wait == Ms(200);
      EXPECT_TRUE(cut || wait.wait == last.pushback.delay);
    }
  }

  Dice& dice_;
  const CallSetup setup_;
  Instant now_;
  Instant wake_at_;
  RetryMachine machine_;
  CallMachine::Actions actions_;
  int started_ = 0;
  bool in_flight_ = false;
  bool waiting_ = false;
  int finishes_ = 0;
};

TEST(RetryMachinePropertyTest, AnyEventsInAnyOrder) {
  Dice dice(Seed());
  int retried = 0;
  for (int round = 0; round < 50000 && !HasFailure(); ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    auto policy = AnyPolicy(dice);
    InFlightRetryBudget::Parameters parameters;
    parameters.min_retries = dice.OneIn(4) ? 0 : 1;
    const auto budget = std::make_shared<InFlightRetryBudget>(parameters);
    if (policy != nullptr && dice.OneIn(2)) policy->retry_budget = budget;
    Operation::Limits limits;
    limits.max_requests = dice.Upto(9);
    limits.retry_window = dice.Length(1500);
    CallSetup setup;
    setup.policy = policy;
    setup.operation = std::make_shared<Operation>(limits);
    setup.throttle =
        std::make_shared<RetryThrottle>(ThrottleParameters{8000, 500});
    setup.random = dice.random();
    setup.start = Instant::FromEpoch(Ms(dice.Upto(1000)));
    setup.caller_deadline = setup.start + dice.Length(2000);
    setup.inherited_deadline = setup.start + dice.Length(2000);
    setup.has_idempotency_key = dice.OneIn(3);
    if (dice.OneIn(50)) setup.refused = absl::UnavailableError("refused");
    const bool dropped = dice.OneIn(4);
    {
      RandomCall call(dice, setup);
      call.Shake();
      EXPECT_EQ(setup.operation->requests_used(), call.requests());
      EXPECT_LE(call.requests(), limits.max_requests);
      if (!dropped) {
        call.Complete();
        EXPECT_EQ(budget->active_calls(), 0);
        EXPECT_EQ(budget->retrying_calls(), 0);
      }
      retried += call.started() > 1 ? 1 : 0;
      // A call that is dropped in a wait gives its request back, too.
      limits.max_requests = call.started();
    }
    EXPECT_EQ(setup.operation->requests_used(), limits.max_requests);
    EXPECT_EQ(budget->active_calls(), 0);
    EXPECT_EQ(budget->retrying_calls(), 0);
    EXPECT_GE(setup.throttle->milli_tokens(), 0);
    EXPECT_LE(setup.throttle->milli_tokens(), 8000);
  }
  // The dice are not so loaded that nothing is tried again.
  EXPECT_GT(retried, 5000);
  std::cout << retried << " calls were retried\n";
}

TEST(RetryMachinePropertyTest, AHundredThousandCallsAreSoonDone) {
  const std::shared_ptr<const MethodPolicy> policy = ListedPolicy();
  SeededRandom random(Seed());
  const Outcome failure = Failure(absl::StatusCode::kUnavailable, "busy");
  int64_t attempts = 0;
  const std::clock_t begin = std::clock();
  for (int call = 0; call < 100000; ++call) {
    CallSetup setup;
    setup.policy = policy;
    setup.random = &random;
    RetryMachine machine(std::move(setup));
    CallMachine::Actions actions;
    Instant now;
    machine.Start(now, &actions);
    for (int attempt = 1; attempt <= 4; ++attempt) {
      actions.clear();
      machine.AttemptDone(attempt, attempt < 4 ? failure : Outcome(), now,
                          &actions);
      if (const auto* wait = absl::get_if<WaitUntil>(&actions[0])) {
        now = wait->time;
        machine.Wake(now, &actions);
      }
    }
    attempts += static_cast<int64_t>(machine.ledger().attempts().size());
    ASSERT_TRUE(machine.finished());
  }
  const double seconds =
      static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(attempts, 400000);
  std::cout << "100000 calls of 4 attempts: " << seconds << " s of CPU\n";
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds, 1);
#else
  // Unoptimized or under a sanitizer: still nothing that grows.
  EXPECT_LT(seconds, 15);
#endif
}

}  // namespace
}  // namespace redial
