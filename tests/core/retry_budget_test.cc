#include "redial/core/retry_budget.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace redial {
namespace {

constexpr int64_t kMillion = 1000000;

Instant At(absl::Duration since_epoch) {
  return Instant::FromEpoch(since_epoch);
}
const Instant kStart = At(absl::Hours(1000));

WindowedRetryBudget::Parameters Windowed(int64_t ratio_millionths,
                                         int64_t min_retries_per_second) {
  WindowedRetryBudget::Parameters parameters;
  parameters.ratio_millionths = ratio_millionths;
  parameters.min_retries_per_second = min_retries_per_second;
  return parameters;
}

int Withdraw(RetryBudget& budget, int tries, Instant now) {
  int granted = 0;
  for (int i = 0; i < tries; ++i) granted += budget.TryWithdraw(now) ? 1 : 0;
  return granted;
}

void Deposit(RetryBudget& budget, int calls, Instant now) {
  for (int i = 0; i < calls; ++i) {
    budget.CallStarted(now);
    budget.CallEnded(true, now);
  }
}

struct RatioRow {
  std::string name;
  int64_t ratio_millionths;
  int calls;
  int granted;
};

class RatioTest : public testing::TestWithParam<RatioRow> {};

TEST_P(RatioTest, IsExact) {
  const RatioRow& row = GetParam();
  WindowedRetryBudget budget(Windowed(row.ratio_millionths, 0));
  Deposit(budget, row.calls, kStart);
  EXPECT_EQ(Withdraw(budget, 3 * row.calls, kStart), row.granted);
}

// Granted and refused in turn with the calls, the sum is the same.
TEST_P(RatioTest, IsExactInAlternation) {
  const RatioRow& row = GetParam();
  WindowedRetryBudget budget(Windowed(row.ratio_millionths, 0));
  int granted = 0;
  for (int i = 0; i < row.calls; ++i) {
    Deposit(budget, 1, kStart);
    granted += Withdraw(budget, 3, kStart);
    ASSERT_LE(granted * kMillion, (i + 1) * row.ratio_millionths);
  }
  EXPECT_EQ(granted, row.granted);
}

INSTANTIATE_TEST_SUITE_P(
    Ratios, RatioTest,
    testing::Values(
        RatioRow{"None", 0, 10, 0}, RatioRow{"OneInTenThousand", 100, 10000, 1},
        RatioRow{"JustNotOneInTenThousand", 100, 9999, 0},
        RatioRow{"P2", 200000, 10, 2}, RatioRow{"P3", 300000, 10, 3},
        RatioRow{"Third", 333333, 3, 0}, RatioRow{"P6", 600000, 10, 6},
        RatioRow{"P7", 700000, 10, 7}, RatioRow{"P9", 900000, 10, 9},
        RatioRow{"One", kMillion, 10, 10},
        RatioRow{"OneAndAHalf", 1500000, 10, 15},
        RatioRow{"Two", 2000000, 10, 20}),
    [](const testing::TestParamInfo<RatioRow>& info) {
      return info.param.name;
    });

TEST(WindowedRetryBudgetTest, TheFloorIsThereFromTheStart) {
  WindowedRetryBudget budget(Windowed(0, 3));
  EXPECT_EQ(budget.BalanceMillionths(kStart), 30 * kMillion);
  EXPECT_EQ(Withdraw(budget, 100, kStart), 30);
  // The floor alone, in each further window.
  EXPECT_EQ(Withdraw(budget, 100, kStart + absl::Seconds(9)), 0);
  EXPECT_EQ(Withdraw(budget, 100, kStart + absl::Seconds(10)), 30);
}

TEST(WindowedRetryBudgetTest, AFractionalFloorIsKept) {
  WindowedRetryBudget::Parameters parameters = Windowed(0, 1);
  parameters.ttl = absl::Milliseconds(2500);
  WindowedRetryBudget budget(parameters);
  EXPECT_EQ(budget.BalanceMillionths(kStart), 2500000);
  EXPECT_EQ(Withdraw(budget, 10, kStart), 2);
  EXPECT_EQ(budget.BalanceMillionths(kStart), 500000);
}

TEST(WindowedRetryBudgetTest, OnlyCallsThatEndedWellDeposit) {
  WindowedRetryBudget budget(Windowed(kMillion, 0));
  budget.CallStarted(kStart);
  budget.CallEnded(false, kStart);
  EXPECT_FALSE(budget.TryWithdraw(kStart));
  budget.CallStarted(kStart);
  budget.CallEnded(true, kStart);
  EXPECT_TRUE(budget.TryWithdraw(kStart));
}

TEST(WindowedRetryBudgetTest, DepositsLeaveTheWindowSlotBySlot) {
  WindowedRetryBudget budget(Windowed(kMillion, 0));
  for (int second = 0; second < 10; ++second) {
    Deposit(budget, 1, kStart + absl::Seconds(second));
  }
  for (int second = 9; second < 20; ++second) {
    EXPECT_EQ(budget.BalanceMillionths(kStart + absl::Seconds(second)),
              (19 - second) * kMillion)
        << second;
  }
}

TEST(WindowedRetryBudgetTest, ARetryIsForgottenWithItsSlot) {
  WindowedRetryBudget budget(Windowed(kMillion, 0));
  Deposit(budget, 1, kStart);
  EXPECT_TRUE(budget.TryWithdraw(kStart + absl::Seconds(5)));
  // Its deposit is gone before it: nothing is granted, nothing is negative.
  EXPECT_EQ(budget.BalanceMillionths(kStart + absl::Seconds(11)), 0);
  Deposit(budget, 1, kStart + absl::Seconds(12));
  EXPECT_FALSE(budget.TryWithdraw(kStart + absl::Seconds(12)));
  EXPECT_TRUE(budget.TryWithdraw(kStart + absl::Seconds(15)));
}

TEST(WindowedRetryBudgetTest, TimesALittleOutOfOrderChangeNothing) {
  WindowedRetryBudget budget(Windowed(kMillion, 0));
  Deposit(budget, 5, kStart);
  for (int i = 0; i < 100; ++i) {
    const Instant now = kStart + absl::Seconds(i % 2 == 0 ? 3 : 2);
    EXPECT_EQ(budget.BalanceMillionths(now), 5 * kMillion);
  }
}

TEST(WindowedRetryBudgetTest, AClockADayBackKeepsTheBalanceAndGoesOn) {
  WindowedRetryBudget budget(Windowed(kMillion, 1));
  Deposit(budget, 5, kStart);
  EXPECT_EQ(Withdraw(budget, 12, kStart), 12);
  const Instant back = kStart - absl::Hours(24);
  EXPECT_EQ(budget.BalanceMillionths(back), 3 * kMillion);
  EXPECT_EQ(budget.BalanceMillionths(back + absl::Seconds(9)), 3 * kMillion);
  EXPECT_EQ(budget.BalanceMillionths(back + absl::Seconds(10)), 10 * kMillion);
}

TEST(WindowedRetryBudgetTest, AClockADayForwardRefillsToTheFloorAndNoMore) {
  WindowedRetryBudget budget(Windowed(kMillion, 1));
  Deposit(budget, 5, kStart);
  EXPECT_EQ(Withdraw(budget, 100, kStart), 15);
  const Instant forward = kStart + absl::Hours(24);
  EXPECT_EQ(budget.BalanceMillionths(forward), 10 * kMillion);
  EXPECT_EQ(Withdraw(budget, 100, forward), 10);
  EXPECT_EQ(Withdraw(budget, 100, forward + absl::Seconds(10)), 10);
}

TEST(WindowedRetryBudgetTest, ExtremeParametersAndTimesAreBounded) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const absl::Duration ttl :
       {absl::ZeroDuration(), -absl::Seconds(1), absl::Nanoseconds(1),
        absl::InfiniteDuration()}) {
    for (const int64_t number : {-kMax, int64_t{0}, kMax}) {
      WindowedRetryBudget::Parameters parameters = Windowed(number, number);
      parameters.ttl = ttl;
      WindowedRetryBudget budget(parameters);
      for (const absl::Duration at :
           {absl::ZeroDuration(), absl::InfiniteDuration(),
            -absl::InfiniteDuration(), absl::Hours(1), -absl::Hours(1)}) {
        Deposit(budget, 3, At(at));
        budget.TryWithdraw(At(at));
        EXPECT_GE(budget.BalanceMillionths(At(at)), 0);
      }
      EXPECT_FALSE(budget.Describe().empty());
    }
  }
}

TEST(WindowedRetryBudgetTest, ManyThreadsLoseNothing) {
  constexpr int kThreads = 32;
  constexpr int kRounds = 3000;
  // Each round deposits one retry and tries to take one: all are granted, since
  // no more are taken than were deposited, and none is left.
  WindowedRetryBudget budget(Windowed(kMillion, 0));
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        budget.CallEnded(true, kStart);
        if (budget.TryWithdraw(kStart)) granted.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted.load(), kThreads * kRounds);
  EXPECT_EQ(budget.BalanceMillionths(kStart), 0);
}

TEST(WindowedRetryBudgetTest, DescribesItself) {
  EXPECT_EQ(WindowedRetryBudget(Windowed(200000, 10)).Describe(),
            "retries: 20% of the calls of the last 10s and 10 per second");
  EXPECT_EQ(WindowedRetryBudget(Windowed(125000, 0)).Describe(),
            "retries: 12.5% of the calls of the last 10s and 0 per second");
}

InFlightRetryBudget::Parameters InFlight(int64_t ratio_millionths,
                                         int64_t min_retries) {
  InFlightRetryBudget::Parameters parameters;
  parameters.ratio_millionths = ratio_millionths;
  parameters.min_retries = min_retries;
  return parameters;
}

void StartCalls(RetryBudget& budget, int calls) {
  for (int i = 0; i < calls; ++i) budget.CallStarted(kStart);
}

TEST(InFlightRetryBudgetTest, BoundsRetriesByTheCallsInProgress) {
  InFlightRetryBudget budget(InFlight(200000, 0));
  StartCalls(budget, 200);
  EXPECT_EQ(Withdraw(budget, 200, kStart), 40);
  EXPECT_EQ(budget.retrying_calls(), 40);
}

TEST(InFlightRetryBudgetTest, EndedRetriesMakeRoom) {
  InFlightRetryBudget budget(InFlight(200000, 0));
  StartCalls(budget, 10);
  EXPECT_EQ(Withdraw(budget, 10, kStart), 2);
  budget.RetryEnded();
  EXPECT_EQ(Withdraw(budget, 10, kStart), 1);
  budget.RetryEnded();
  budget.RetryEnded();
  EXPECT_EQ(budget.retrying_calls(), 0);
}

TEST(InFlightRetryBudgetTest, EndedCallsTakeRoomAway) {
  InFlightRetryBudget budget(InFlight(500000, 0));
  StartCalls(budget, 4);
  EXPECT_TRUE(budget.TryWithdraw(kStart));
  for (int i = 0; i < 3; ++i) budget.CallEnded(i == 0, kStart);
  EXPECT_EQ(budget.active_calls(), 1);
  EXPECT_FALSE(budget.TryWithdraw(kStart));
}

TEST(InFlightRetryBudgetTest, TheShareIsRoundedDownAndTheFloorHolds) {
  InFlightRetryBudget budget(InFlight(200000, 3));
  EXPECT_EQ(Withdraw(budget, 10, kStart), 3);
  StartCalls(budget, 19);
  EXPECT_EQ(Withdraw(budget, 10, kStart), 0);  // floor(3.8)
  StartCalls(budget, 1);
  EXPECT_EQ(Withdraw(budget, 10, kStart), 1);
}

TEST(InFlightRetryBudgetTest, ABurstOfThreadsDoesNotPass) {
  constexpr int kThreads = 32;
  InFlightRetryBudget budget(InFlight(200000, 0));
  StartCalls(budget, 200);
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(
        [&] { granted.fetch_add(Withdraw(budget, 100, kStart)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted.load(), 40);
  EXPECT_EQ(budget.retrying_calls(), 40);
}

TEST(InFlightRetryBudgetTest, PairsOfManyThreadsLeaveNothing) {
  constexpr int kThreads = 32;
  InFlightRetryBudget budget(InFlight(kMillion, 4));
  std::atomic<bool> passed{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3000; ++round) {
        if (!budget.TryWithdraw(kStart)) continue;
        if (budget.retrying_calls() > 4) passed.store(true);
        budget.RetryEnded();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(passed.load());
  EXPECT_EQ(budget.retrying_calls(), 0);
}

TEST(InFlightRetryBudgetTest, DescribesItself) {
  EXPECT_EQ(InFlightRetryBudget(InFlight(200000, 3)).Describe(),
            "retries: at most 20% of the calls in progress, at least 3");
}

}  // namespace
}  // namespace redial
