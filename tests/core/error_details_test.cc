#include "redial/core/error_details.h"

#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "tests/core/wire_bytes.h"

namespace redial {
namespace {

using Delay = absl::optional<absl::Duration>;

struct Row {
  std::string name;
  std::string bytes;
  Delay delay;
  bool malformed = false;
};

std::string RowName(const testing::TestParamInfo<Row>& info) {
  return info.param.name;
}

std::string Base64(const std::string& text) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(text, &bytes)) << text;
  return bytes;
}

// A status with one RetryInfo of these value bytes.
std::string WithRetryInfo(const std::string& value) {
  return Number(1, 14) + Bytes(2, "busy") + Any(kRetryInfoType, value);
}

class RetryDelayTest : public testing::TestWithParam<Row> {};

TEST_P(RetryDelayTest, IsFoundInTheBytes) {
  const ErrorDetails details = ParseErrorDetails(GetParam().bytes);
  EXPECT_EQ(details.retry_delay, GetParam().delay);
  EXPECT_EQ(details.malformed, GetParam().malformed);
}

INSTANTIATE_TEST_SUITE_P(
    OnTheWire, RetryDelayTest,
    testing::Values(
        Row{"OneAndAHalfSeconds",
            Base64("CA4SBGJ1c3kaNgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLl"
                   "JldHJ5SW5mbxIKCggIARCAyrXuAQ"),
            absl::Milliseconds(1500)},
        Row{"EmptyDuration",
            Base64("CAgaLgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW"
                   "5mbxICCgA"),
            absl::ZeroDuration()},
        Row{"WithoutDelay",
            Base64("CAgaKgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW"
                   "5mbw"),
            absl::nullopt},
        Row{"AfterErrorInfo",
            Base64("CAgaLwoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkVycm9ySW"
                   "5mbxIDCgFSGjMKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5S"
                   "ZXRyeUluZm8SBwoFEIDC1y8"),
            absl::Milliseconds(100)},
        Row{"FirstOfTwo",
            Base64("CAgaMQoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW"
                   "5mbxIFCgMIjAYaMQoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBj"
                   "LlJldHJ5SW5mbxIFCgMIhAc"),
            absl::Minutes(13)},
        Row{"Negative",
            Base64("CA4aOQoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW"
                   "5mbxINCgsI////////////AQ"),
            absl::nullopt, true},
        Row{"NoDetails", Base64("CAgSAXg"), absl::nullopt},
        Row{"NoBytes", "", absl::nullopt}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    Range, RetryDelayTest,
    testing::Values(
        Row{"Longest", WithRetryInfo(RetryInfo(315576000000, 999999999)),
            absl::Seconds(315576000000) + absl::Nanoseconds(999999999)},
        Row{"ASecondLonger", WithRetryInfo(RetryInfo(315576000001)),
            absl::nullopt, true},
        Row{"LargestInteger",
            WithRetryInfo(RetryInfo(std::numeric_limits<int64_t>::max())),
            absl::nullopt, true},
        Row{"SmallestInteger",
            WithRetryInfo(RetryInfo(std::numeric_limits<int64_t>::min())),
            absl::nullopt, true},
        Row{"TooManyNanos", WithRetryInfo(RetryInfo(1, 1000000000)),
            absl::nullopt, true},
        Row{"NegativeNanos", WithRetryInfo(RetryInfo(0, -1)), absl::nullopt,
            true},
        Row{"SignsDisagree", WithRetryInfo(RetryInfo(1, -1)), absl::nullopt,
            true},
        Row{"OneNanosecond", WithRetryInfo(RetryInfo(0, 1)),
            absl::Nanoseconds(1)},
        Row{"InvalidThenValid",
            Any(kRetryInfoType, RetryInfo(-1)) +
                Any(kRetryInfoType, RetryInfo(2)),
            absl::Seconds(2), true},
        Row{"WithoutDelayThenWithDelay",
            Any(kRetryInfoType, "") + Any(kRetryInfoType, RetryInfo(2)),
            absl::Seconds(2)}),
    RowName);

const std::string kOverlong = std::string(11, '\x80') + '\x01';

INSTANTIATE_TEST_SUITE_P(
    Spellings, RetryDelayTest,
    testing::Values(
        Row{"OtherPrefix",
            Any("example.test/a/google.rpc.RetryInfo", RetryInfo(2)),
            absl::Seconds(2)},
        Row{"EmptyPrefix", Any("/google.rpc.RetryInfo", RetryInfo(2)),
            absl::Seconds(2)},
        Row{"NoSlash", Any("google.rpc.RetryInfo", RetryInfo(2)),
            absl::nullopt},
        Row{"OtherPackage", Any("x/not.google.rpc.RetryInfo", RetryInfo(2)),
            absl::nullopt},
        Row{"LongerName", Any("x/google.rpc.RetryInfo2", RetryInfo(2)),
            absl::nullopt},
        Row{"ValueBeforeType",
            Bytes(3, Bytes(2, RetryInfo(2)) + Bytes(1, kRetryInfoType)),
            absl::Seconds(2)},
        Row{"UnknownFields",
            Number(99, 1) + Tag(98, 1) + "12345678" + Tag(97, 5) + "1234" +
                Bytes(3, Number(7, 7) + Bytes(1, kRetryInfoType) +
                             Bytes(2, Number(9, 9) + RetryInfo(2) +
                                          Bytes(8, "unknown"))) +
                Bytes(96, "more"),
            absl::Seconds(2)},
        Row{"OtherWireTypeIsUnknown",
            WithRetryInfo(Number(1, 5) + RetryInfo(2) + Tag(1, 5) + "1234"),
            absl::Seconds(2)},
        Row{"DelayInTwoPartsIsMerged",
            WithRetryInfo(RetryInfo(2) + RetryInfo(0, 500000000)),
            absl::Milliseconds(2500)},
        Row{"LastOfARepeatedFieldCounts",
            WithRetryInfo(Bytes(1, Number(1, 9) + Number(1, 2))),
            absl::Seconds(2)},
        Row{"PaddedVarint",
            WithRetryInfo(Bytes(1, Tag(1, 0) + std::string("\x82\x80\x00", 3))),
            absl::Seconds(2)},
        Row{"GroupIsSkipped",
            Tag(5, 3) + Number(3, 1) + Tag(6, 3) + Tag(6, 4) + Bytes(3, "x") +
                Tag(5, 4) + Any(kRetryInfoType, RetryInfo(2)),
            absl::Seconds(2)}),
    RowName);

std::string Nested(int depth) {
  std::string out;
  for (int i = 0; i < depth; ++i) out += Tag(5, 3);
  for (int i = 0; i < depth; ++i) out += Tag(5, 4);
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    Broken, RetryDelayTest,
    testing::Values(
        Row{"TruncatedTag", "\x80", absl::nullopt, true},
        Row{"TruncatedVarint", "\x08\xff", absl::nullopt, true},
        Row{"OverlongVarint", Tag(1, 0) + kOverlong, absl::nullopt, true},
        Row{"OverlongTag", kOverlong, absl::nullopt, true},
        Row{"OverlongLength", Tag(3, 2) + kOverlong, absl::nullopt, true},
        Row{"LengthBeyondTheEnd", Tag(3, 2) + Varint(5) + "1234", absl::nullopt,
            true},
        Row{"HugeLength", Tag(3, 2) + Varint(0xffffffff) + "1234",
            absl::nullopt, true},
        Row{"TruncatedFixed32", Tag(9, 5) + "123", absl::nullopt, true},
        Row{"TruncatedFixed64", Tag(9, 1) + "1234567", absl::nullopt, true},
        Row{"FieldZero", Tag(0, 0) + Varint(1), absl::nullopt, true},
        Row{"WireType6", Tag(1, 6), absl::nullopt, true},
        Row{"WireType7", Tag(1, 7), absl::nullopt, true},
        Row{"EndWithoutGroup", Tag(5, 4), absl::nullopt, true},
        Row{"GroupWithoutEnd", Tag(5, 3), absl::nullopt, true},
        Row{"GroupEndsAnother", Tag(5, 3) + Tag(6, 4), absl::nullopt, true},
        Row{"GroupsTooDeep", Nested(101) + WithRetryInfo(RetryInfo(2)),
            absl::nullopt, true},
        Row{"GroupsVeryDeep", Nested(1000000), absl::nullopt, true},
        Row{"GroupsJustNotTooDeep", Nested(100) + WithRetryInfo(RetryInfo(2)),
            absl::Seconds(2)},
        Row{"BrokenRetryInfo", WithRetryInfo(RetryInfo(2) + "\x80"),
            absl::nullopt, true},
        Row{"BrokenDuration", WithRetryInfo(Bytes(1, Number(1, 2) + "\x80")),
            absl::nullopt, true},
        Row{"BrokenAnyThenGoodOne",
            Bytes(3, "\xff") + Any(kRetryInfoType, RetryInfo(2)),
            absl::Seconds(2), true},
        Row{"GoodOneThenBroken", WithRetryInfo(RetryInfo(2)) + "\xff",
            absl::Seconds(2), true}),
    RowName);

TEST(ErrorInfoTest, GivesReasonAndDomainOfTheFirst) {
  const std::string bytes =
      Any(kRetryInfoType, RetryInfo(1)) +
      Any(kErrorInfoType, Bytes(1, "STOCKOUT") + Bytes(2, "example.test") +
                              Bytes(3, Bytes(1, "zone") + Bytes(2, "a"))) +
      Any(kErrorInfoType, Bytes(1, "SECOND"));
  const ErrorDetails details = ParseErrorDetails(bytes);
  EXPECT_EQ(details.error_reason, "STOCKOUT");
  EXPECT_EQ(details.error_domain, "example.test");
  EXPECT_EQ(details.retry_delay, absl::Seconds(1));
  EXPECT_FALSE(details.malformed);
}

TEST(ErrorInfoTest, SkipsABrokenOne) {
  const std::string bytes = Any(kErrorInfoType, Bytes(1, "BROKEN") + "\x80") +
                            Any(kErrorInfoType, Bytes(1, "WHOLE"));
  const ErrorDetails details = ParseErrorDetails(bytes);
  EXPECT_EQ(details.error_reason, "WHOLE");
  EXPECT_EQ(details.error_domain, "");
  EXPECT_TRUE(details.malformed);
}

TEST(ErrorDetailsTest, TruncatedAnywhereGivesAllOrNothingOfTheDelay) {
  const std::string bytes = WithRetryInfo(RetryInfo(300, 5));
  const absl::Duration delay = absl::Seconds(300) + absl::Nanoseconds(5);
  ASSERT_EQ(ParseErrorDetails(bytes).retry_delay, delay);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(ParseErrorDetails(bytes.substr(0, length)).retry_delay,
              absl::nullopt)
        << length;
  }
}

TEST(ErrorDetailsTest, AnyBytesGiveAValidAnswer) {
  const uint32_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  const std::string good = Any(kErrorInfoType, Bytes(1, "R") + Bytes(2, "d")) +
                           Nested(3) + WithRetryInfo(RetryInfo(300, 5));
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    const int changes = 1 + random() % 4;
    for (int i = 0; i < changes; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const ErrorDetails details = ParseErrorDetails(bytes);
    if (details.retry_delay.has_value()) {
      EXPECT_GE(*details.retry_delay, absl::ZeroDuration());
      EXPECT_LT(*details.retry_delay, absl::Seconds(315576000001));
    }
    // Views point into the input.
    for (const absl::string_view text :
         {details.error_reason, details.error_domain}) {
      if (text.empty()) continue;
      EXPECT_GE(text.data(), bytes.data());
      EXPECT_LE(text.data() + text.size(), bytes.data() + bytes.size());
    }
  }
}

}  // namespace
}  // namespace redial
