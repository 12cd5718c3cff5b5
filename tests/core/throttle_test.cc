#include "redial/core/throttle.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace redial {
namespace {

ThrottleParameters Parameters(int64_t max_milli_tokens,
                              int64_t milli_token_ratio) {
  ThrottleParameters parameters;
  parameters.max_milli_tokens = max_milli_tokens;
  parameters.milli_token_ratio = milli_token_ratio;
  return parameters;
}

// One line per step: what happened, the tokens after it, whether a retry is
// allowed.
TEST(RetryThrottleTest, FollowsTheSequenceOfTokens) {
  RetryThrottle throttle(Parameters(4000, 1600));
  const auto fail = [&](int64_t tokens, bool allowed) {
    EXPECT_EQ(throttle.RecordFailure(), allowed) << tokens;
    EXPECT_EQ(throttle.Allows(), allowed) << tokens;
    EXPECT_EQ(throttle.milli_tokens(), tokens);
  };
  const auto succeed = [&](int64_t tokens) {
    throttle.RecordSuccess();
    EXPECT_EQ(throttle.milli_tokens(), tokens);
  };
  EXPECT_TRUE(throttle.Allows());
  fail(3000, true);
  succeed(4000);  // not above the maximum
  fail(3000, true);
  fail(2000, false);  // half is not above half
  fail(1000, false);
  fail(0, false);
  fail(0, false);  // not below zero
  succeed(1600);
  succeed(3200);
  fail(2200, true);
  fail(1200, false);
  succeed(2800);
  fail(1800, false);
  succeed(3400);
  fail(2400, true);
}

TEST(RetryThrottleTest, OneFailureOfTwoTokensIsEnough) {
  RetryThrottle throttle(Parameters(2000, 1000));
  EXPECT_FALSE(throttle.RecordFailure());
}

TEST(RetryThrottleTest, HalfOfAnOddMaximumIsExact) {
  RetryThrottle throttle(Parameters(3000, 500));
  EXPECT_TRUE(throttle.RecordFailure());   // 2 of 3
  EXPECT_FALSE(throttle.RecordFailure());  // 1 of 3
  throttle.RecordSuccess();                // 1.5 of 3
  EXPECT_FALSE(throttle.Allows());
  throttle.RecordSuccess();
  EXPECT_TRUE(throttle.Allows());
}

TEST(RetryThrottleTest, ReconfigureKeepsTheFraction) {
  RetryThrottle throttle(Parameters(4000, 1000));
  EXPECT_TRUE(throttle.RecordFailure());
  throttle.Reconfigure(Parameters(10000, 3000));
  EXPECT_EQ(throttle.milli_tokens(), 7500);
  EXPECT_TRUE(throttle.RecordFailure());   // 6.5
  EXPECT_TRUE(throttle.RecordFailure());   // 5.5
  EXPECT_FALSE(throttle.RecordFailure());  // 4.5
  EXPECT_FALSE(throttle.RecordFailure());  // 3.5
  throttle.RecordSuccess();
  EXPECT_EQ(throttle.milli_tokens(), 6500);
  EXPECT_TRUE(throttle.RecordFailure());   // 5.5
  EXPECT_FALSE(throttle.RecordFailure());  // 4.5
  throttle.Reconfigure(Parameters(2000, 3000));
  EXPECT_EQ(throttle.milli_tokens(), 900);
}

TEST(RetryThrottleTest, ReconfigureOfTheRatioAloneKeepsTheTokens) {
  RetryThrottle throttle(Parameters(4000, 1000));
  throttle.RecordFailure();
  throttle.RecordFailure();
  throttle.Reconfigure(Parameters(4000, 500));
  EXPECT_EQ(throttle.milli_tokens(), 2000);
  throttle.RecordSuccess();
  EXPECT_EQ(throttle.milli_tokens(), 2500);
}

TEST(RetryThrottleTest, ExtremeParametersDoNotOverflow) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  RetryThrottle throttle(Parameters(kMax, kMax));
  EXPECT_TRUE(throttle.RecordFailure());
  throttle.RecordSuccess();
  EXPECT_EQ(throttle.milli_tokens(), throttle.parameters().max_milli_tokens);
  throttle.Reconfigure(Parameters(1000, 1));
  EXPECT_EQ(throttle.milli_tokens(), 1000);
  throttle.Reconfigure(Parameters(-kMax, -kMax));
  EXPECT_EQ(throttle.milli_tokens(), 0);
  EXPECT_FALSE(throttle.RecordFailure());
  throttle.RecordSuccess();
  EXPECT_EQ(throttle.milli_tokens(), 0);
  // From nothing there is no fraction to keep.
  throttle.Reconfigure(Parameters(3000, 1000));
  EXPECT_EQ(throttle.milli_tokens(), 3000);
}

void RunInThreads(int threads, const std::function<void()>& body) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(body);
  for (std::thread& thread : running) thread.join();
}

TEST(RetryThrottleTest, ManyThreadsLoseNoToken) {
  constexpr int kThreads = 32;
  constexpr int kRounds = 3000;
  // At most 32 tokens from the middle: never at a bound, so the sum is exact.
  RetryThrottle throttle(Parameters(1000000, 1000));
  for (int i = 0; i < 500; ++i) throttle.RecordFailure();
  RunInThreads(kThreads, [&] {
    for (int round = 0; round < kRounds; ++round) {
      throttle.RecordFailure();
      throttle.RecordSuccess();
    }
  });
  EXPECT_EQ(throttle.milli_tokens(), 500000);
}

TEST(RetryThrottleTest, StaysInBoundsWhileItIsReconfigured) {
  RetryThrottle throttle(Parameters(10000, 1600));
  std::atomic<bool> out_of_bounds{false};
  std::atomic<int> thread_number{0};
  RunInThreads(8, [&] {
    const bool reconfigures = thread_number.fetch_add(1) < 2;
    for (int round = 0; round < 3000; ++round) {
      if (reconfigures) {
        throttle.Reconfigure(Parameters(round % 2 == 0 ? 100000 : 10000, 1600));
      } else if (round % 3 == 0) {
        throttle.RecordFailure();
      } else {
        throttle.RecordSuccess();
      }
      const int64_t tokens = throttle.milli_tokens();
      if (tokens < 0 || tokens > 100000) out_of_bounds.store(true);
    }
  });
  EXPECT_FALSE(out_of_bounds.load());
  throttle.Reconfigure(Parameters(10000, 1600));
  for (int i = 0; i < 10; ++i) throttle.RecordSuccess();
  EXPECT_EQ(throttle.milli_tokens(), 10000);
}

TEST(ThrottleRegistryTest, OneThrottleForEachName) {
  ThrottleRegistry registry;
  const auto first = registry.Get("a.example.test", Parameters(4000, 1000));
  first->RecordFailure();
  EXPECT_EQ(registry.Get("a.example.test", Parameters(4000, 1000)), first);
  const auto other = registry.Get("b.example.test", Parameters(4000, 1000));
  EXPECT_NE(other, first);
  EXPECT_EQ(first->milli_tokens(), 3000);
  EXPECT_EQ(other->milli_tokens(), 4000);
}

TEST(ThrottleRegistryTest, NewParametersReachThoseWhoHoldTheThrottle) {
  ThrottleRegistry registry;
  const auto held = registry.Get("a.example.test", Parameters(4000, 1000));
  held->RecordFailure();
  registry.Get("a.example.test", Parameters(10000, 3000));
  EXPECT_EQ(held->milli_tokens(), 7500);
  EXPECT_EQ(held->parameters(), Parameters(10000, 3000));
}

TEST(ThrottleRegistryTest, ThreadsThatAskTogetherGetTheSame) {
  ThrottleRegistry registry;
  RunInThreads(16, [&] {
    registry.Get("a.example.test", Parameters(100000, 1000))->RecordFailure();
  });
  EXPECT_EQ(
      registry.Get("a.example.test", Parameters(100000, 1000))->milli_tokens(),
      84000);
}

TEST(ThrottleRegistryTest, ThereIsOneOfTheProcess) {
  EXPECT_EQ(&ThrottleRegistry::Process(), &ThrottleRegistry::Process());
}

}  // namespace
}  // namespace redial
