#include "redial/core/backoff.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redial/testing/fixed_random.h"

namespace redial {
namespace {

constexpr double kJustBelowOne = 1.0 - 0x1.0p-53;
constexpr int64_t kMaxRetries = std::numeric_limits<int64_t>::max();
constexpr BackoffForm kForms[] = {
    BackoffForm::kProportional, BackoffForm::kFull, BackoffForm::kEqual,
    BackoffForm::kAdditive,     BackoffForm::kUpTo, BackoffForm::kDecorrelated};

const absl::Duration kLongest =
    absl::Seconds(std::numeric_limits<int64_t>::max());

BackoffPolicy Policy(BackoffForm form, absl::Duration base, absl::Duration max,
                     double multiplier = 2) {
  BackoffPolicy policy;
  policy.form = form;
  policy.base = base;
  policy.max = max;
  policy.multiplier = multiplier;
  return policy;
}

BackoffPolicy NoJitter(absl::Duration base, absl::Duration max,
                       double multiplier = 2) {
  BackoffPolicy policy =
      Policy(BackoffForm::kProportional, base, max, multiplier);
  policy.jitter = 0;
  return policy;
}

// One delay with this fraction drawn, checked against the range as well.
absl::Duration Draw(const BackoffPolicy& policy, int64_t retries,
                    double fraction, absl::Duration previous = {}) {
  FixedRandom random(fraction);
  const absl::Duration delay = BackoffDelay(policy, retries, previous, random);
  const DelayRange range = BackoffRange(policy, retries, previous);
  EXPECT_GE(delay, range.low);
  EXPECT_LE(delay, range.high);
  return delay;
}

TEST(BackoffTest, SaturatesAtTheCap) {
  const BackoffPolicy policy = NoJitter(absl::Seconds(5), absl::Seconds(20));
  EXPECT_EQ(Draw(policy, 0, 0.5), absl::Seconds(5));
  EXPECT_EQ(Draw(policy, 1, 0.5), absl::Seconds(10));
  for (const int64_t retries :
       {int64_t{2}, int64_t{29}, int64_t{30}, int64_t{31}, int64_t{32},
        int64_t{33}, int64_t{62}, int64_t{63}, int64_t{64}, int64_t{65},
        int64_t{1023}, int64_t{1024}, int64_t{1025}, int64_t{2147483647},
        int64_t{2147483648}, kMaxRetries}) {
    EXPECT_EQ(CappedExponential(policy, retries), absl::Seconds(20)) << retries;
    EXPECT_EQ(Draw(policy, retries, 0.5), absl::Seconds(20)) << retries;
  }
}

TEST(BackoffTest, HugeFactorAndHugeCapStayFinite) {
  for (const absl::Duration cap : {kLongest, absl::InfiniteDuration()}) {
    const BackoffPolicy policy = NoJitter(absl::Seconds(5), cap, 1e308);
    EXPECT_EQ(CappedExponential(policy, 0), absl::Seconds(5));
    for (const int64_t retries : {int64_t{1}, int64_t{2}, kMaxRetries}) {
      EXPECT_EQ(CappedExponential(policy, retries), kLongest) << retries;
    }
  }
}

TEST(BackoffTest, NegativeRetriesCountAsNone) {
  const BackoffPolicy policy = NoJitter(absl::Seconds(5), absl::Seconds(20));
  EXPECT_EQ(Draw(policy, -1, 0.5), absl::Seconds(5));
  EXPECT_EQ(Draw(policy, std::numeric_limits<int64_t>::min(), 0.5),
            absl::Seconds(5));
}

TEST(BackoffTest, FirstRetryWaitsTheBase) {
  const BackoffPolicy policy =
      NoJitter(absl::Milliseconds(100), absl::Hours(1));
  const int64_t expected_ms[] = {100, 200, 400, 800, 1600};
  for (int retries = 0; retries < 5; ++retries) {
    EXPECT_EQ(Draw(policy, retries, 0.9),
              absl::Milliseconds(expected_ms[retries]));
  }
}

TEST(BackoffTest, IsMonotoneBeforeJitter) {
  for (const double multiplier : {1.0, 1.0000001, 1.3, 1.6, 2.0, 10.0}) {
    const BackoffPolicy policy =
        NoJitter(absl::Milliseconds(7), absl::Hours(1), multiplier);
    absl::Duration before = absl::ZeroDuration();
    for (int retries = 0; retries < 3000; ++retries) {
      const absl::Duration delay = CappedExponential(policy, retries);
      ASSERT_GE(delay, before) << multiplier << " ^ " << retries;
      ASSERT_LE(delay, policy.max);
      before = delay;
    }
  }
}

TEST(BackoffTest, JitterStaysAroundTheCapForLateRetries) {
  BackoffPolicy policy = Policy(BackoffForm::kProportional,
                                absl::Milliseconds(500), absl::Seconds(30));
  for (int64_t retries = 1000; retries <= 1100; ++retries) {
    EXPECT_EQ(Draw(policy, retries, 0), absl::Seconds(24));
    EXPECT_LE(Draw(policy, retries, kJustBelowOne), absl::Seconds(36));
  }
  EXPECT_EQ(Draw(policy, 10000, 0.5), absl::Seconds(30));
  policy.base = absl::Seconds(1);
  policy.jitter = 0.1;
  for (int64_t retries = 55; retries <= 70; ++retries) {
    EXPECT_EQ(Draw(policy, retries, 0), absl::Seconds(27));
    EXPECT_LE(Draw(policy, retries, kJustBelowOne), absl::Seconds(33));
  }
}

TEST(BackoffTest, MultiplierThatConfigRefusesWaitsTheCap) {
  for (const double multiplier :
       {std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::nan(""), 0.0, -2.0}) {
    const BackoffPolicy policy =
        NoJitter(absl::Seconds(5), absl::Seconds(20), multiplier);
    for (const int64_t retries : {int64_t{1}, int64_t{2}, kMaxRetries}) {
      EXPECT_EQ(Draw(policy, retries, 0.5), absl::Seconds(20)) << multiplier;
    }
  }
}

TEST(BackoffTest, JitterThatConfigRefusesIsTakenAsTheNearest) {
  BackoffPolicy policy = NoJitter(absl::Seconds(5), absl::Seconds(20));
  for (const double jitter : {-1.0, std::nan("")}) {
    policy.jitter = jitter;
    EXPECT_EQ(Draw(policy, 0, 0.9), absl::Seconds(5)) << jitter;
  }
  policy.jitter = 7;
  EXPECT_EQ(Draw(policy, 0, 0), absl::ZeroDuration());
  EXPECT_EQ(Draw(policy, 0, 0.5), absl::Seconds(5));
}

struct JitterRow {
  std::string name;
  BackoffForm form;
  int retries;
  absl::Duration previous;
  // For the fractions 0, 0.4, 0.6.
  int64_t expected_ms[3];
  // Just below 1 the delay rounds to the end of the range.
  int64_t end_ms;
};

class JitterTest : public testing::TestWithParam<JitterRow> {};

// base 1 s, multiplier 2, max 10 s.
TEST_P(JitterTest, IsExact) {
  const JitterRow& row = GetParam();
  const BackoffPolicy policy =
      Policy(row.form, absl::Seconds(1), absl::Seconds(10));
  const double fractions[] = {0, 0.4, 0.6};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Draw(policy, row.retries, fractions[i], row.previous),
              absl::Milliseconds(row.expected_ms[i]))
        << fractions[i];
  }
  const absl::Duration end = absl::Milliseconds(row.end_ms);
  const absl::Duration last =
      Draw(policy, row.retries, kJustBelowOne, row.previous);
  EXPECT_LE(last, end);
  EXPECT_GE(last, end - absl::Nanoseconds(1));
  EXPECT_EQ(BackoffRange(policy, row.retries, row.previous).high, end);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, JitterTest,
    testing::Values(
        JitterRow{"ProportionalFirst",
                  BackoffForm::kProportional,
                  0,
                  {},
                  {800, 960, 1040},
                  1200},
        JitterRow{"ProportionalAtTheCap",
                  BackoffForm::kProportional,
                  9,
                  {},
                  {8000, 9600, 10400},
                  12000},
        JitterRow{"FullFirst", BackoffForm::kFull, 0, {}, {0, 400, 600}, 1000},
        JitterRow{
            "FullAtTheCap", BackoffForm::kFull, 9, {}, {0, 4000, 6000}, 10000},
        JitterRow{
            "EqualFirst", BackoffForm::kEqual, 0, {}, {500, 700, 800}, 1000},
        JitterRow{"EqualAtTheCap",
                  BackoffForm::kEqual,
                  9,
                  {},
                  {5000, 7000, 8000},
                  10000},
        JitterRow{"AdditiveFirst",
                  BackoffForm::kAdditive,
                  0,
                  {},
                  {1000, 1400, 1600},
                  2000},
        JitterRow{"AdditiveThird",
                  BackoffForm::kAdditive,
                  3,
                  {},
                  {8000, 8400, 8600},
                  9000},
        JitterRow{"AdditiveAtTheCap",
                  BackoffForm::kAdditive,
                  9,
                  {},
                  {10000, 10000, 10000},
                  10000},
        JitterRow{
            "UpToFirst", BackoffForm::kUpTo, 0, {}, {1000, 1100, 1150}, 1250},
        JitterRow{"UpToAtTheCap",
                  BackoffForm::kUpTo,
                  9,
                  {},
                  {10000, 11000, 11500},
                  12500},
        JitterRow{"DecorrelatedFirst",
                  BackoffForm::kDecorrelated,
                  0,
                  {},
                  {1000, 1800, 2200},
                  3000},
        JitterRow{"DecorrelatedLater",
                  BackoffForm::kDecorrelated,
                  5,
                  absl::Seconds(2),
                  {1000, 3000, 4000},
                  6000},
        JitterRow{"DecorrelatedAtTheCap",
                  BackoffForm::kDecorrelated,
                  5,
                  absl::Seconds(10),
                  {1000, 10000, 10000},
                  10000}),
    [](const testing::TestParamInfo<JitterRow>& info) {
      return info.param.name;
    });

TEST(BackoffTest, TinyAndHugeSettingsStayInBounds) {
  const absl::Duration tick = absl::Nanoseconds(1) / 4;
  for (const BackoffForm form : kForms) {
    for (const absl::Duration base :
         {tick, absl::Nanoseconds(1), absl::Milliseconds(1), absl::Hours(1),
          kLongest, absl::InfiniteDuration(), absl::ZeroDuration(),
          -absl::Seconds(1)}) {
      for (const absl::Duration max :
           {tick, absl::Nanoseconds(1), absl::Milliseconds(1), absl::Hours(1),
            kLongest, absl::InfiniteDuration(), absl::ZeroDuration(),
            -absl::Seconds(1)}) {
        const BackoffPolicy policy = Policy(form, base, max);
        const absl::Duration most =
            max > absl::Hours(1)
                ? kLongest
                : std::max(max, absl::ZeroDuration()) * 1.25 + tick;
        for (const int64_t retries : {int64_t{0}, int64_t{1}, kMaxRetries}) {
          for (const double fraction : {0.0, 0.4, 0.6, kJustBelowOne}) {
            for (const absl::Duration previous :
                 {absl::ZeroDuration(), absl::Seconds(1), kLongest}) {
              const absl::Duration delay =
                  Draw(policy, retries, fraction, previous);
              EXPECT_GE(delay, absl::ZeroDuration());
              EXPECT_LE(delay, most) << "base " << base << ", max " << max;
            }
          }
        }
      }
    }
  }
}

TEST(BackoffTest, EveryFormDrawsOnceForEachDelay) {
  for (const BackoffForm form : kForms) {
    FixedRandom random(0.5);
    BackoffDelay(Policy(form, absl::Seconds(1), absl::Seconds(10)), 1,
                 absl::Seconds(1), random);
    EXPECT_EQ(random.draws(), 1u);
  }
}

TEST(CustomBackoffTest, ReplacesTheRest) {
  BackoffPolicy policy = NoJitter(absl::Seconds(5), absl::Seconds(20));
  policy.custom = [](int retry, RandomSource& random) {
    return absl::Seconds(retry) * random.NextFraction();
  };
  EXPECT_EQ(Draw(policy, 0, 0.5), absl::Milliseconds(500));
  EXPECT_EQ(Draw(policy, 3, 0.5), absl::Seconds(2));
}

TEST(CustomBackoffTest, ResultIsClamped) {
  BackoffPolicy policy = NoJitter(absl::Seconds(5), absl::Seconds(20));
  absl::Duration result;
  policy.custom = [&result](int, RandomSource&) { return result; };
  result = -absl::Seconds(1);
  EXPECT_EQ(Draw(policy, 0, 0.5), absl::ZeroDuration());
  result = -absl::InfiniteDuration();
  EXPECT_EQ(Draw(policy, 0, 0.5), absl::ZeroDuration());
  result = absl::InfiniteDuration();
  EXPECT_EQ(Draw(policy, 0, 0.5), absl::Seconds(20));
  policy.max = absl::InfiniteDuration();
  EXPECT_EQ(Draw(policy, 0, 0.5), kLongest);
}

TEST(CustomBackoffTest, RetryNumberSaturates) {
  BackoffPolicy policy = NoJitter(absl::Seconds(5), absl::Seconds(20));
  int seen = 0;
  policy.custom = [&seen](int retry, RandomSource&) {
    seen = retry;
    return absl::Seconds(1);
  };
  Draw(policy, kMaxRetries, 0.5);
  EXPECT_EQ(seen, std::numeric_limits<int>::max());
  Draw(policy, -7, 0.5);
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace redial
