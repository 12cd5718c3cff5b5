#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/error_details.h"
#include "redial/testing/fake_clock.h"
#include "redial/testing/fixed_random.h"
#include "redial/testing/matchers.h"
#include "redial/testing/metadata_rules.h"
#include "redial/testing/status_details.h"
#include "redial/testing/virtual_time.h"

namespace redial {
namespace {

using ::testing::ElementsAre;

TEST(FakeClockTest, MovesOnlyWhenTold) {
  FakeClock clock(Instant::FromEpoch(absl::Hours(1)));
  EXPECT_EQ(clock.Now().since_epoch(), absl::Hours(1));
  EXPECT_EQ(clock.Now().since_epoch(), absl::Hours(1));
  clock.Advance(absl::Seconds(2));
  EXPECT_EQ(clock.Now().since_epoch(), absl::Hours(1) + absl::Seconds(2));
  clock.Advance(-absl::Hours(2));
  EXPECT_LT(clock.Now(), Instant());
}

TEST(FixedRandomTest, GivesTheFractionsBackAndRepeatsTheLast) {
  FixedRandom random({0.0, 0.25, 0.9});
  EXPECT_EQ(random.NextFraction(), 0.0);
  EXPECT_EQ(random.NextFraction(), 0.25);
  EXPECT_NEAR(random.NextFraction(), 0.9, 1e-15);
  EXPECT_NEAR(random.NextFraction(), 0.9, 1e-15);
  EXPECT_EQ(random.draws(), 4u);
}

TEST(FixedRandomTest, StaysBelowOneWhateverIsAsked) {
  for (double asked : {1.0, 7.0, -1.0, std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()}) {
    FixedRandom random(asked);
    const double got = random.NextFraction();
    EXPECT_GE(got, 0.0);
    EXPECT_LT(got, 1.0);
  }
}

TEST(SeededRandomTest, IsSplitMix64OnEveryPlatform) {
  // The sequence of the published reference implementation.
  SeededRandom random(1234567);
  EXPECT_EQ(random.NextBits(), uint64_t{6457827717110365317});
  EXPECT_EQ(random.NextBits(), uint64_t{3203168211198807973});
  EXPECT_EQ(random.NextBits(), uint64_t{9817491932198370423u});
}

TEST(VirtualTimeTest, RunsEventsByTimeAndThenInOrder) {
  VirtualTime time;
  std::vector<std::string> ran;
  const auto at = [&](int ms, const std::string& name) {
    return time.At(Instant() + absl::Milliseconds(ms),
                   [&ran, name] { ran.push_back(name); });
  };
  at(20, "later");
  at(10, "first");
  at(10, "second");
  const VirtualTime::Event cancelled = at(15, "cancelled");
  at(-5, "past is now");
  time.At(Instant::Infinite(), [&] { ran.push_back("never"); });
  time.Cancel(cancelled);
  time.Cancel(VirtualTime::Event());
  EXPECT_TRUE(time.Run());
  EXPECT_THAT(ran, ElementsAre("past is now", "first", "second", "later"));
  EXPECT_EQ(time.Now().since_epoch(), absl::Milliseconds(20));
}

TEST(VirtualTimeTest, StopsAtTheLimitOfEvents) {
  VirtualTime time;
  std::function<void()> again = [&] { time.At(time.Now(), again); };
  again();
  EXPECT_FALSE(time.Run(1000));
}

TEST(StatusDetailsTest, WritesWhatTheEngineReads) {
  StatusDetails details;
  details.retry_delay = absl::Seconds(300) + absl::Nanoseconds(7);
  details.error_reason = "QUOTA";
  details.error_domain = "example.test";
  const std::string bytes = EncodeStatusDetails(absl::StatusCode::kUnavailable,
                                                std::string(300, 'm'), details);
  const ErrorDetails read = ParseErrorDetails(bytes);
  EXPECT_FALSE(read.malformed);
  EXPECT_EQ(read.retry_delay, details.retry_delay);
  EXPECT_EQ(read.error_reason, "QUOTA");
  EXPECT_EQ(read.error_domain, "example.test");
}

TEST(MetadataRulesTest, RefusesWhatGrpcWouldAbortOn) {
  struct Row {
    std::string name, value;
    bool ok;
  };
  const std::vector<Row> rows = {
      {"x-team", "blue", true},
      {"x_1.a-b", "", true},
      {"x-bin", std::string("\0\xff\n", 3), true},
      {"grpc-retry-pushback-ms", "-1", true},
      {"X-Team", "blue", false},
      {"", "blue", false},
      {":path", "/", false},
      {"x team", "blue", false},
      {"x-team", "bl\nue", false},
      {"x-team", "bl\xc3\xbc", false},
      {"x-team", " blue", false},
      {"grpc-timeout", "1S", false},
      {"grpclb_client_stats", "1", false},
      {"lb-cost-bin", "1", false},
      {"endpoint-load-metrics-bin", "1", false},
      {"grpc-trace-bin", "1", false},
      {"grpc-tags-bin", "1", false},
      {"grpc-server-stats-bin", "1", false},
      {"x-team", std::string(9000, 'a'), false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(CheckMetadata(row.name, row.value).ok(), row.ok)
        << row.name << "=" << row.value;
  }
}

}  // namespace
}  // namespace redial
