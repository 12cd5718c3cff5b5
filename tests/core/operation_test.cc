#include "redial/core/operation.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace redial {
namespace {

Instant At(absl::Duration since_epoch) {
  return Instant::FromEpoch(since_epoch);
}

Operation::Limits Limits(int64_t max_requests,
                         absl::Duration window = absl::InfiniteDuration()) {
  Operation::Limits limits;
  limits.max_requests = max_requests;
  limits.retry_window = window;
  return limits;
}

TEST(OperationTest, GivesSoManyRequestsAndNoMore) {
  Operation operation(Limits(3));
  EXPECT_EQ(operation.max_requests(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(operation.requests_used(), i);
    EXPECT_TRUE(operation.TryTake());
  }
  EXPECT_FALSE(operation.TryTake());
  EXPECT_FALSE(operation.TryTake());
  EXPECT_EQ(operation.requests_used(), 3);
}

TEST(OperationTest, ZeroOrLessAllowsNothing) {
  EXPECT_FALSE(Operation(Limits(0)).TryTake());
  EXPECT_FALSE(Operation(Limits(-1)).TryTake());
}

TEST(OperationTest, ThreadsTogetherDoNotPass) {
  Operation operation(Limits(1000));
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        if (operation.TryTake()) taken.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.load(), 1000);
  EXPECT_EQ(operation.requests_used(), 1000);
}

TEST(OperationTest, TheWindowCountsFromTheFirstCall) {
  Operation operation(Limits(10, absl::Seconds(30)));
  EXPECT_TRUE(operation.window_end().is_infinite());
  operation.CallStarted(At(absl::Seconds(100)));
  operation.CallStarted(At(absl::Seconds(120)));
  EXPECT_EQ(operation.window_end(), At(absl::Seconds(130)));
}

TEST(OperationTest, TheEpochItselfIsAStart) {
  Operation operation(Limits(10, absl::Seconds(30)));
  operation.CallStarted(At(absl::ZeroDuration()));
  operation.CallStarted(At(absl::Seconds(5)));
  EXPECT_EQ(operation.window_end(), At(absl::Seconds(30)));
}

TEST(OperationTest, WithoutAWindowTheEndIsInfinite) {
  Operation operation(Limits(10));
  operation.CallStarted(At(absl::Seconds(100)));
  EXPECT_TRUE(operation.window_end().is_infinite());
}

}  // namespace
}  // namespace redial
