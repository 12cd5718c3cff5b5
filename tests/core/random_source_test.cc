#include "redial/core/random_source.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redial/core/backoff.h"

namespace redial {
namespace {

class ConstantBits final : public RandomSource {
 public:
  explicit ConstantBits(uint64_t bits) : bits_(bits) {}
  uint64_t NextBits() override { return bits_; }

 private:
  const uint64_t bits_;
};

TEST(RandomSourceTest, FractionIsBelowOne) {
  EXPECT_EQ(ConstantBits(0).NextFraction(), 0.0);
  EXPECT_EQ(ConstantBits(uint64_t{1} << 63).NextFraction(), 0.5);
  EXPECT_EQ(ConstantBits(~uint64_t{0}).NextFraction(), 1.0 - 0x1.0p-53);
}

TEST(SharedRandomTest, ThreadsThatFailTogetherWaitDifferently) {
  constexpr int kThreads = 64;
  BackoffPolicy policy;
  policy.form = BackoffForm::kFull;
  policy.base = absl::Seconds(1);
  std::vector<absl::Duration> delays(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&policy, &delays, i] {
      delays[i] = BackoffDelay(policy, 0, absl::ZeroDuration(), SharedRandom());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(std::set<absl::Duration>(delays.begin(), delays.end()).size(), 50u);
}

TEST(SharedRandomTest, SpreadsOverTheWholeRange) {
  int low = 0;
  constexpr int kDraws = 10000;
  for (int i = 0; i < kDraws; ++i) {
    const double fraction = SharedRandom().NextFraction();
    ASSERT_GE(fraction, 0);
    ASSERT_LT(fraction, 1);
    if (fraction < 0.5) ++low;
  }
  // Ten standard deviations.
  EXPECT_NEAR(low, kDraws / 2, 500);
}

// Children of one parent, forked one after the other from the same state.
TEST(SharedRandomTest, ForkedChildrenDrawOtherValues) {
  SharedRandom().NextBits();  // seeded before the fork
  constexpr int kChildren = 4;
  std::set<uint64_t> seen;
  for (int i = 0; i < kChildren; ++i) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const uint64_t bits = SharedRandom().NextBits();
      const bool sent = write(ends[1], &bits, sizeof(bits)) == sizeof(bits);
      _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    uint64_t bits = 0;
    EXPECT_EQ(read(ends[0], &bits, sizeof(bits)),
              static_cast<ssize_t>(sizeof(bits)));
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    seen.insert(bits);
  }
  seen.insert(SharedRandom().NextBits());
  EXPECT_EQ(seen.size(), kChildren + 1u);
}

}  // namespace
}  // namespace redial
