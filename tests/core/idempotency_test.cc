#include "redial/core/idempotency.h"

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/testing/fixed_random.h"

namespace redial {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr Idempotency kUnknown = Idempotency::kUnknown;
constexpr Idempotency kNot = Idempotency::kNotIdempotent;
constexpr Idempotency kIdempotent = Idempotency::kIdempotent;
constexpr Idempotency kNoSideEffects = Idempotency::kNoSideEffects;

struct TwiceRow {
  std::string name;
  Idempotency descriptor;
  Idempotency config;
  bool without_key;
  bool with_key;
};

class MaySendTwiceTest : public testing::TestWithParam<TwiceRow> {};

TEST_P(MaySendTwiceTest, TheFirstThatKnowsDecides) {
  const TwiceRow& row = GetParam();
  EXPECT_EQ(MaySendTwice(row.descriptor, row.config, false), row.without_key);
  EXPECT_EQ(MaySendTwice(row.descriptor, row.config, true), row.with_key);
}

INSTANTIATE_TEST_SUITE_P(
    Levels, MaySendTwiceTest,
    testing::Values(
        TwiceRow{"NobodyKnows", kUnknown, kUnknown, false, true},
        TwiceRow{"ConfigYes", kUnknown, kIdempotent, true, true},
        TwiceRow{"ConfigNoSideEffects", kUnknown, kNoSideEffects, true, true},
        TwiceRow{"ConfigNo", kUnknown, kNot, false, false},
        TwiceRow{"DescriptorYes", kIdempotent, kUnknown, true, true},
        TwiceRow{"DescriptorYesBeforeConfigNo", kIdempotent, kNot, true, true},
        TwiceRow{"DescriptorNoSideEffects", kNoSideEffects, kUnknown, true,
                 true},
        TwiceRow{"DescriptorNo", kNot, kUnknown, false, false},
        TwiceRow{"DescriptorNoBeforeConfigYes", kNot, kIdempotent, false,
                 false}),
    [](const testing::TestParamInfo<TwiceRow>& info) {
      return info.param.name;
    });

// The value for all bits zero and for all bits one: version and variant stand.
class ConstantBits final : public RandomSource {
 public:
  explicit ConstantBits(uint64_t bits) : bits_(bits) {}
  uint64_t NextBits() override { return bits_; }

 private:
  const uint64_t bits_;
};

TEST(UuidTest, HasVersionFourAndVariantOne) {
  ConstantBits zeros(0);
  EXPECT_EQ(GenerateUuidV4(zeros), "00000000-0000-4000-8000-000000000000");
  ConstantBits ones(~uint64_t{0});
  EXPECT_EQ(GenerateUuidV4(ones), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  ConstantBits pattern(0x0123456789abcdef);
  EXPECT_EQ(GenerateUuidV4(pattern), "01234567-89ab-4def-8123-456789abcdef");
}

TEST(UuidTest, DiffersFromCallToCall) {
  SeededRandom random(7);
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = GenerateUuidV4(random);
    EXPECT_THAT(uuid, MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-"
                                   "[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    EXPECT_TRUE(ValidateIdempotencyKey(uuid).ok());
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

struct KeyRow {
  std::string name;
  std::string key;
  std::string error;  // part of the message; empty: valid
};

class ValidateKeyTest : public testing::TestWithParam<KeyRow> {};

TEST_P(ValidateKeyTest, SaysWhatIsWrongWithoutQuoting) {
  const KeyRow& row = GetParam();
  const absl::Status status = ValidateIdempotencyKey(row.key);
  if (row.error.empty()) {
    EXPECT_TRUE(status.ok()) << status;
    return;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(row.error));
  if (!row.key.empty()) {
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr(row.key)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Keys, ValidateKeyTest,
    testing::Values(KeyRow{"Plain", "build-8812", ""},
                    KeyRow{"OneCharacter", "k", ""},
                    KeyRow{"Punctuation", "~!@#$%^&*()\"'\\;,", ""},
                    KeyRow{"SpaceInside", "build 8812", ""},
                    KeyRow{"Longest", std::string(255, 'k'), ""},
                    KeyRow{"TooLong", std::string(256, 'k'), "256 characters"},
                    KeyRow{"Empty", "", "empty"},
                    KeyRow{"LineFeed", "secret\nx", "character 7"},
                    KeyRow{"HeaderInjection", "secret\r\nx: y", "character 7"},
                    KeyRow{"Nul", std::string("secret\0x", 8), "character 7"},
                    KeyRow{"Delete", "secret\x7f", "character 7"},
                    KeyRow{"Utf8", "secret\xc3\xa9", "character 7"},
                    KeyRow{"SpaceBefore", " secret", "space"},
                    KeyRow{"SpaceAfter", "secret ", "space"}),
    [](const testing::TestParamInfo<KeyRow>& info) { return info.param.name; });

std::string Choose(const IdempotencyKeyPolicy& policy,
                   const absl::optional<std::string>& from_options,
                   bool in_metadata) {
  FixedRandom random(0);
  const absl::StatusOr<std::string> key =
      ChooseIdempotencyKey(policy, from_options, in_metadata, random);
  return key.ok() ? *key : std::string(key.status().message());
}

TEST(ChooseKeyTest, NoneUnlessAskedFor) {
  EXPECT_EQ(Choose(IdempotencyKeyPolicy(), absl::nullopt, false), "");
}

TEST(ChooseKeyTest, TheCallersKeyGoesBeforeAGeneratedOne) {
  IdempotencyKeyPolicy policy;
  EXPECT_EQ(Choose(policy, "mine", false), "mine");
  policy.generate = true;
  EXPECT_EQ(Choose(policy, "mine", false), "mine");
}

TEST(ChooseKeyTest, AKeyInMetadataIsNeverReplaced) {
  IdempotencyKeyPolicy policy;
  policy.generate = true;
  EXPECT_EQ(Choose(policy, absl::nullopt, true), "");
  EXPECT_EQ(Choose(policy, "mine", true), "");
}

TEST(ChooseKeyTest, GeneratesAUuid) {
  IdempotencyKeyPolicy policy;
  policy.generate = true;
  EXPECT_EQ(Choose(policy, absl::nullopt, false),
            "00000000-0000-4000-8000-000000000000");
}

TEST(ChooseKeyTest, UsesTheGeneratorOnce) {
  IdempotencyKeyPolicy policy;
  policy.generate = true;
  int runs = 0;
  policy.generator = [&runs](RandomSource&) {
    ++runs;
    return std::string("generated");
  };
  EXPECT_EQ(Choose(policy, absl::nullopt, false), "generated");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(Choose(policy, "mine", false), "mine");
  EXPECT_EQ(Choose(policy, absl::nullopt, true), "");
  EXPECT_EQ(runs, 1);
}

TEST(ChooseKeyTest, RefusesAKeyThatCannotBeSent) {
  IdempotencyKeyPolicy policy;
  EXPECT_THAT(Choose(policy, "", false), HasSubstr("empty"));
  EXPECT_THAT(Choose(policy, "a\nb", false), HasSubstr("character 2"));
  policy.generate = true;
  policy.generator = [](RandomSource&) { return std::string(); };
  EXPECT_THAT(Choose(policy, absl::nullopt, false), HasSubstr("empty"));
}

}  // namespace
}  // namespace redial
