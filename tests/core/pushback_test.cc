#include "redial/core/pushback.h"

#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "tests/core/wire_bytes.h"

namespace redial {
namespace {

constexpr absl::Duration kNone = -absl::InfiniteDuration();
constexpr absl::Duration kStop = -absl::Seconds(1);
constexpr absl::Duration kBad = -absl::Seconds(2);

// 2026-11-30 12:00:00.25 GMT.
const absl::Time kNow = absl::FromUnixMillis(1796040000250);

// A pushback as one duration, so that a table can name it.
absl::Duration Brief(const Pushback& pushback) {
  switch (pushback.kind) {
    case Pushback::Kind::kDelay:
      EXPECT_GE(pushback.delay, absl::ZeroDuration());
      return pushback.delay;
    case Pushback::Kind::kStop:
      return kStop;
    case Pushback::Kind::kNone:
      return pushback.malformed ? kBad : kNone;
  }
  return kNone;
}

struct Row {
  std::string name;
  std::string value;
  absl::Duration expected;
};

std::string RowName(const testing::TestParamInfo<Row>& info) {
  return info.param.name;
}

class GrpcRetryPushbackTest : public testing::TestWithParam<Row> {};

TEST_P(GrpcRetryPushbackTest, IsCanonicalOrAStop) {
  EXPECT_EQ(Brief(ParseGrpcRetryPushbackMs(GetParam().value)),
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Values, GrpcRetryPushbackTest,
    testing::Values(
        Row{"Zero", "0", absl::ZeroDuration()},
        Row{"Delay", "250", absl::Milliseconds(250)},
        Row{"Largest", "2147483647", absl::Milliseconds(2147483647)},
        Row{"TooLarge", "2147483648", kStop},
        Row{"MuchTooLarge", "99999999999999999999", kStop},
        Row{"Negative", "-1", kStop}, Row{"MinusZero", "-0", kStop},
        Row{"Plus", "+5", kStop}, Row{"LeadingZero", "007", kStop},
        Row{"TwoZeros", "00", kStop}, Row{"Fraction", "1.5", kStop},
        Row{"Exponent", "1e3", kStop}, Row{"Hex", "0x10", kStop},
        Row{"Empty", "", kStop}, Row{"Word", "abc", kStop},
        Row{"Suffix", "100ms", kStop}, Row{"SpaceBefore", " 5", kStop},
        Row{"SpaceAfter", "5 ", kStop}, Row{"TwoValues", "100,100", kStop},
        Row{"Nul", std::string("5\0", 2), kStop}),
    RowName);

class RetryAfterTest : public testing::TestWithParam<Row> {};

TEST_P(RetryAfterTest, IsDigitsOrADate) {
  EXPECT_EQ(Brief(ParseRetryAfter(GetParam().value, kNow)),
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Seconds, RetryAfterTest,
    testing::Values(
        Row{"Zero", "0", absl::ZeroDuration()},
        Row{"Delta", "120", absl::Seconds(120)},
        Row{"Trimmed", " 5 ", absl::Seconds(5)},
        Row{"TrimmedTab", "\t42 ", absl::Seconds(42)},
        Row{"LeadingZeros", "007", absl::Seconds(7)},
        Row{"ManyLeadingZeros", std::string(100, '0') + "7", absl::Seconds(7)},
        Row{"ThreeDays", "277403", absl::Seconds(277403)},
        Row{"EightDigitsAreSeconds", "20260101", absl::Seconds(20260101)},
        Row{"LargestInt64", "9223372036854775807",
            absl::Seconds(9223372036854775807)},
        Row{"OneMore", "9223372036854775808", absl::InfiniteDuration()},
        Row{"Huge", "99999999999999999999", absl::InfiniteDuration()},
        Row{"Endless", std::string(100000, '9'), absl::InfiniteDuration()},
        Row{"Negative", "-3", kBad}, Row{"Plus", "+3", kBad},
        Row{"Float", "1.5", kBad}, Row{"Point", "1.", kBad},
        Row{"Suffix", "120abc", kBad}, Row{"Unit", "5s", kBad},
        Row{"Exponent", "1e3", kBad}, Row{"Empty", "", kBad},
        Row{"Blank", " \t ", kBad}, Row{"Word", "Stuff", kBad},
        Row{"Infinity", "inf", kBad}, Row{"NotANumber", "nan", kBad},
        Row{"TwoValues", "2, 3", kBad}, Row{"InnerSpace", "1 2", kBad},
        Row{"LineFeed", "5\n", kBad}, Row{"VerticalTab", "\v5", kBad},
        Row{"SuperscriptTwo", "\xc2\xb2", kBad},
        Row{"Nul", std::string("5\0", 2), kBad}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    Dates, RetryAfterTest,
    testing::Values(
        Row{"Imf", "Mon, 30 Nov 2026 12:00:30 GMT", absl::Milliseconds(29750)},
        Row{"Rfc850", "Monday, 30-Nov-26 12:00:30 GMT",
            absl::Milliseconds(29750)},
        Row{"Asctime", "Mon Nov 30 12:00:30 2026", absl::Milliseconds(29750)},
        Row{"TrimmedDate", "\tMon, 30 Nov 2026 12:00:30 GMT ",
            absl::Milliseconds(29750)},
        Row{"NowInTheSameSecond", "Mon, 30 Nov 2026 12:00:00 GMT",
            absl::ZeroDuration()},
        Row{"Past", "Fri, 31 Dec 1999 23:59:00 GMT", absl::ZeroDuration()},
        Row{"Impossible", "Tue, 31 Feb 2026 12:00:30 GMT", kBad},
        Row{"BadWeekday", "Zun, 29 Sep 2027 16:26:27 GMT", kBad},
        Row{"Utc", "Mon, 3 Jun 2019 11:00:00 UTC", kBad},
        Row{"DateAndNumber", "Mon, 30 Nov 2026 12:00:30 GMT, 45", kBad},
        Row{"BadDate", "Invalid Date GMT", kBad}),
    RowName);

TEST(RetryAfterClockTest, AnInfiniteClockGivesADelayThatIsValid) {
  constexpr char kDate[] = "Mon, 30 Nov 2026 12:00:30 GMT";
  EXPECT_EQ(Brief(ParseRetryAfter(kDate, absl::InfiniteFuture())),
            absl::ZeroDuration());
  EXPECT_EQ(Brief(ParseRetryAfter(kDate, absl::InfinitePast())),
            absl::InfiniteDuration());
}

class RetryAfterMsTest : public testing::TestWithParam<Row> {};

TEST_P(RetryAfterMsTest, IsDecimal) {
  EXPECT_EQ(Brief(ParseRetryAfterMs(GetParam().value)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Values, RetryAfterMsTest,
    testing::Values(
        Row{"Zero", "0", absl::ZeroDuration()},
        Row{"Whole", "1200", absl::Milliseconds(1200)},
        Row{"Trimmed", " 800\t", absl::Milliseconds(800)},
        Row{"Fraction", "1.5", absl::Microseconds(1500)},
        Row{"SixDigits", "0.123456", absl::Nanoseconds(123456)},
        Row{"MoreDigitsAreCut", "0.1234569", absl::Nanoseconds(123456)},
        Row{"Huge", "99999999999999999999", absl::InfiniteDuration()},
        Row{"HugeWithFraction", "99999999999999999999.5",
            absl::InfiniteDuration()},
        Row{"NoFraction", "1.", kBad}, Row{"NoWhole", ".5", kBad},
        Row{"TwoPoints", "1.2.3", kBad}, Row{"Negative", "-100", kBad},
        Row{"Comma", "1,5", kBad}, Row{"Exponent", "1e3", kBad},
        Row{"Empty", "", kBad}, Row{"Word", "abc", kBad}),
    RowName);

class RateLimitTest : public testing::TestWithParam<Row> {};

TEST_P(RateLimitTest, GivesTheResetOfAUsedUpQuota) {
  EXPECT_EQ(Brief(ParseRateLimit(GetParam().value)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Values, RateLimitTest,
    testing::Values(
        Row{"UsedUp", "\"default\";r=0;t=30", absl::Seconds(30)},
        Row{"Remaining", "\"default\";r=50;t=30", kNone},
        Row{"NoRemaining", "\"default\";t=30", absl::Seconds(30)},
        Row{"NoReset", "\"default\";r=0", kNone},
        Row{"FirstThatIsUsedUp", "\"a\";r=5;t=1, \"b\";r=0;t=7 ,\"c\";r=0;t=9",
            absl::Seconds(7)},
        Row{"OtherOrder", "\"a\";t=30;pk=:YWJj:;r=0", absl::Seconds(30)},
        Row{"OtherParameters",
            "\"a\"; q=1.25; name=\"x;t=9\"; on; off=?0; w=tok/en;r=0; t=30",
            absl::Seconds(30)},
        Row{"LastOfARepeatedParameter", "\"a\";r=0;t=1;t=2", absl::Seconds(2)},
        Row{"Escapes", "\"a\\\"b\\\\\";r=0;t=30", absl::Seconds(30)},
        Row{"Token", "default;r=0;t=30", absl::Seconds(30)},
        Row{"Spaces", "  \"default\";r=0;t=30  ", absl::Seconds(30)},
        Row{"LongestInteger", "\"a\";r=0;t=999999999999999",
            absl::Seconds(999999999999999)},
        Row{"Empty", "", kNone},
        Row{"TooLongInteger", "\"a\";r=0;t=9999999999999999", kBad},
        Row{"NegativeReset", "\"a\";r=0;t=-1", kBad},
        Row{"DecimalReset", "\"a\";r=0;t=1.5", kBad},
        Row{"TextReset", "\"a\";r=0;t=\"30\"", kBad},
        Row{"ResetWithoutValue", "\"a\";r=0;t", kBad},
        Row{"UpperCaseKey", "\"a\";R=0;t=30", kBad},
        Row{"OpenString", "\"default;r=0;t=30", kBad},
        Row{"BadEscape", "\"a\\x\";r=0;t=30", kBad},
        Row{"TrailingComma", "\"a\";r=0;t=30,", kBad},
        Row{"NoComma", "\"a\";r=0;t=30 \"b\"", kBad},
        Row{"BrokenLater", "\"a\";r=0;t=30, ;", kBad},
        Row{"InnerList", "(\"a\");r=0;t=30", kBad},
        Row{"OnlySemicolon", ";r=0;t=30", kBad},
        Row{"Latin1", "\"\xe9\";r=0;t=30", kBad}),
    RowName);

TEST(RateLimitTest, OlderDraftsSayNothing) {
  // limit=, remaining=, reset= of draft 7 and before are tokens without `t`.
  EXPECT_EQ(ParseRateLimit("limit=100, remaining=0, reset=5").kind,
            Pushback::Kind::kNone);
}

class FakeMetadata final : public MetadataView {
 public:
  explicit FakeMetadata(std::map<std::string, std::string> values)
      : values_(std::move(values)) {}

  absl::optional<absl::string_view> Find(
      absl::string_view name) const override {
    const auto found = values_.find(std::string(name));
    if (found == values_.end()) return absl::nullopt;
    return found->second;
  }

 private:
  const std::map<std::string, std::string> values_;
};

struct Sources {
  std::string name;
  std::map<std::string, std::string> metadata;
  std::string details;
  bool http = true;

  absl::Duration expected;
  WaitSource source = WaitSource::kNone;
  bool malformed = false;
};

std::string Details(int64_t seconds) {
  return Any(kRetryInfoType, RetryInfo(seconds));
}

class ReadPushbackTest : public testing::TestWithParam<Sources> {};

TEST_P(ReadPushbackTest, TakesTheFirstThatIsValid) {
  const Sources& row = GetParam();
  const FakeMetadata metadata(row.metadata);
  const Pushback pushback =
      ReadPushback(&metadata, row.details, kNow, row.http);
  EXPECT_EQ(pushback.kind == Pushback::Kind::kNone ? kNone : Brief(pushback),
            row.expected);
  EXPECT_EQ(pushback.source, row.source);
  EXPECT_EQ(pushback.malformed, row.malformed);
}

INSTANTIATE_TEST_SUITE_P(
    Precedence, ReadPushbackTest,
    testing::Values(
        Sources{"Nothing", {}, "", true, kNone},
        Sources{"PushbackFirst",
                {{"grpc-retry-pushback-ms", "100"}, {"retry-after", "7"}},
                Details(5),
                true,
                absl::Milliseconds(100),
                WaitSource::kPushback},
        Sources{"BadPushbackIsAStop",
                {{"grpc-retry-pushback-ms", "abc"}, {"retry-after", "7"}},
                Details(5),
                true,
                kStop,
                WaitSource::kPushback},
        Sources{"RetryInfoSecond",
                {{"retry-after", "7"}},
                Details(5),
                true,
                absl::Seconds(5),
                WaitSource::kRetryInfo},
        Sources{"BadRetryInfoIsPassedOver",
                {{"retry-after", "7"}},
                Details(-5),
                true,
                absl::Seconds(7),
                WaitSource::kRetryAfter,
                true},
        Sources{"RetryAfterThird",
                {{"retry-after", "7"}, {"retry-after-ms", "100"}},
                "",
                true,
                absl::Seconds(7),
                WaitSource::kRetryAfter},
        Sources{"BadRetryAfterIsPassedOver",
                {{"retry-after", "soon"}, {"retry-after-ms", "100"}},
                "",
                true,
                absl::Milliseconds(100),
                WaitSource::kRetryAfter,
                true},
        Sources{"BadRetryAfterAlone",
                {{"retry-after", "-5"}},
                "",
                true,
                kNone,
                WaitSource::kNone,
                true},
        Sources{
            "MillisecondsOfTheVendor",
            {{"x-ms-retry-after-ms", "800"}, {"ratelimit", "\"a\";r=0;t=9"}},
            "",
            true,
            absl::Milliseconds(800),
            WaitSource::kRetryAfter},
        Sources{"OwnMillisecondsBeforeTheVendors",
                {{"retry-after-ms", "100"}, {"x-ms-retry-after-ms", "800"}},
                "",
                true,
                absl::Milliseconds(100),
                WaitSource::kRetryAfter},
        Sources{"RateLimitLast",
                {{"ratelimit", "\"a\";r=0;t=9"}},
                "",
                true,
                absl::Seconds(9),
                WaitSource::kRetryAfter},
        Sources{"NoHttpHeadersOnGrpc",
                {{"retry-after", "7"}, {"ratelimit", "\"a\";r=0;t=9"}},
                "",
                false,
                kNone},
        Sources{"BadHttpHeadersOnGrpcAreNotRead",
                {{"retry-after", "soon"}},
                "",
                false,
                kNone}),
    [](const testing::TestParamInfo<Sources>& info) {
      return info.param.name;
    });

TEST(ReadPushbackTest, MetadataMayBeNull) {
  const Pushback pushback = ReadPushback(nullptr, Details(5), kNow, true);
  EXPECT_EQ(pushback.delay, absl::Seconds(5));
  EXPECT_EQ(pushback.source, WaitSource::kRetryInfo);
}

}  // namespace
}  // namespace redial
