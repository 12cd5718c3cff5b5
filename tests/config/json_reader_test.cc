#include "redial/config/json_reader.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/config/decimal_text.h"
#include "redial/config/duration_text.h"
#include "redial/config/json_document.h"
#include "tests/config/config_documents.h"

namespace redial {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Reading {
  explicit Reading(absl::string_view text)
      : document(*JsonDocument::Parse(text)),
        root(document.root(), "", &problems) {}

  JsonDocument document;
  ProblemList problems;
  JsonReader root;
};

TEST(DurationTextTest, ReadsDurationsExactly) {
  struct Case {
    const char* text;
    absl::optional<absl::Duration> want;
  };
  const Case cases[] = {
      {"0.1s", absl::Milliseconds(100)},
      {"0.000000001s", absl::Nanoseconds(1)},
      {"0s", absl::ZeroDuration()},
      {"1s", absl::Seconds(1)},
      {"1.5s", absl::Milliseconds(1500)},
      {"007s", absl::Seconds(7)},
      {"0.100000000s", absl::Milliseconds(100)},
      {"315576000000s", absl::Seconds(315576000000)},
      {"315576000001s", absl::nullopt},
      {"99999999999999999999999s", absl::nullopt},
      {"100ms", absl::nullopt},
      {".5s", absl::nullopt},
      {"1.s", absl::nullopt},
      {"1", absl::nullopt},
      {"s", absl::nullopt},
      {"", absl::nullopt},
      {" 1s", absl::nullopt},
      {"1 s", absl::nullopt},
      {"1s ", absl::nullopt},
      {"-1s", absl::nullopt},
      {"-0s", absl::nullopt},
      {"+1s", absl::nullopt},
      {"1e3s", absl::nullopt},
      {"0.0000000001s", absl::nullopt},
      {"1,5s", absl::nullopt},
      {"1.5.0s", absl::nullopt},
      {"3.xs", absl::nullopt},
      {"foos", absl::nullopt},
      {"infs", absl::nullopt},
      {"1S", absl::nullopt},
      {"1sec", absl::nullopt},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ParseDurationText(c.text), c.want) << c.text;
  }
}

TEST(DurationTextTest, WritesWhatItReads) {
  for (absl::string_view text :
       {"0s", "1.5s", "0.000000001s", "315576000000.999999999s"}) {
    EXPECT_EQ(DurationText(*ParseDurationText(text)), text);
  }
  EXPECT_EQ(DurationText(absl::InfiniteDuration()), "infinite");
  EXPECT_EQ(DurationText(-absl::Milliseconds(1500)), "-1.5s");
}

TEST(DecimalTextTest, CutsAndDoesNotRound) {
  struct Case {
    const char* text;
    absl::optional<int64_t> thousandths;
  };
  const Case cases[] = {
      {"0", 0},
      {"1", 1000},
      {"1.0", 1000},
      {"0.007", 7},
      {"0.5466", 546},
      {"0.6789", 678},
      {"0.0009999", 0},
      {"0.29", 290},
      {"1e-3", 1},
      {"1e-1", 100},
      {"5E+2", 500000},
      {"1e9", 1000000000000},
      {"12.5e1", 125000},
      {"0.00125e3", 1250},
      {"-1", -1000},
      {"-0.0001", 0},
      {"1e12", kMaxScaledDecimal},
      {"1e300", kMaxScaledDecimal},
      {"0e999999999999999999999", 0},
      {"1e-999999999999999999999", 0},
      {".5", absl::nullopt},
      {"1.", absl::nullopt},
      {"", absl::nullopt},
      {"0x1", absl::nullopt},
      {"nan", absl::nullopt},
      {"1,5", absl::nullopt},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ScaledDecimal(c.text, 3), c.thousandths) << c.text;
  }
}

TEST(DecimalTextTest, ShortestTextReadsBack) {
  EXPECT_EQ(ShortestDecimal(0.1), "0.1");
  EXPECT_EQ(ShortestDecimal(0.5466), "0.5466");
  EXPECT_EQ(ShortestDecimal(5), "5");
  EXPECT_EQ(ShortestDecimal(1e21), "1e+21");
  EXPECT_EQ(ShortestDecimal(0.1 + 0.2), "0.30000000000000004");
}

TEST(JsonReaderTest, ReadsEachKind) {
  Reading reading(R"({"s":"x","b":true,"i":3.0,"d":"0.25s","r":0.5466,
      "e":"b","l":[1,2],"n":null,"t":"7"})");
  absl::optional<JsonObject> object = reading.root.Object();
  ASSERT_TRUE(object);
  EXPECT_EQ(object->Optional("s")->String(), "x");
  EXPECT_EQ(object->Optional("b")->Bool(), true);
  EXPECT_EQ(object->Optional("i")->Integer(0, 5), 3);
  EXPECT_EQ(object->Optional("t")->Integer(0, 9, NumberForm::kNumberOrText), 7);
  EXPECT_EQ(object->Optional("d")->Duration(), absl::Milliseconds(250));
  EXPECT_EQ(object->Optional("r")->Scaled(3, 1), 546);
  EXPECT_EQ(object->Optional("e")->Enum<int>({{"A", 1}, {"B", 2}}), 2);
  EXPECT_EQ(object->Optional("l")->Array()->size(), 2u);
  EXPECT_FALSE(object->Optional("n"));
  object->ReportUnknown(UnknownKeys::kError);
  EXPECT_THAT(Lines(reading.problems.errors()), IsEmpty());
}

TEST(JsonReaderTest, SaysWhatIsThereAndWhatWouldBeRight) {
  Reading reading(R"({"s":5,"b":"true","i":1.5,"d":"1sec","z":"0s","r":0.0004,
      "e":"C","l":{},"big":1e300,"t":"7"})");
  absl::optional<JsonObject> object = reading.root.Object();
  object->Optional("s")->String();
  object->Optional("b")->Bool();
  object->Optional("i")->Integer(2, 5);
  object->Optional("d")->Duration();
  object->Optional("z")->Duration(absl::Nanoseconds(1));
  object->Optional("r")->Scaled(3, 1);
  object->Optional("e")->Enum<int>({{"A", 1}, {"B", 2}});
  object->Optional("l")->Array();
  object->Optional("big")->Integer(2, 5);
  object->Optional("t")->Integer(2, 5);
  object->Required("m", "a string");
  EXPECT_THAT(
      Lines(reading.problems.errors()),
      ElementsAre(
          "s: is 5; must be a string",
          "b: is \"true\"; must be true or false, without quotes",
          "i: is 1.5; must be an integer, at least 2",
          "d: is \"1sec\"; must be a duration: seconds with up to 9 decimals "
          "and the letter s, in quotes, such as \"0.5s\"",
          "z: is \"0s\"; must be above 0, such as \"0.5s\"",
          "r: is 0.0004; must be a number of at least 0.001 (decimals after "
          "the third do not count), such as 0.1",
          "e: is \"C\"; must be one of A, B",
          "l: is an object; must be an array [...]",
          "big: is 1e+300; must be an integer from 2 to 5",
          "t: is \"7\"; must be an integer, at least 2",
          "m: is missing; must be a string"));
}

TEST(JsonReaderTest, NamesTheKeyThatWasMeant) {
  Reading reading(R"({"max_attempts":1,"maxAtempts":1,"quite":1,
      "a-very \u0001 odd.key":1})");
  absl::optional<JsonObject> object = reading.root.Object();
  object->Optional("maxAttempts");
  object->Optional("timeout");
  object->ReportUnknown(UnknownKeys::kError);
  reading.problems.Sort(R"({"max_attempts":1,"maxAtempts":1,"quite":1})");
  EXPECT_THAT(
      Lines(reading.problems.errors()),
      ElementsAre("[\"a-very \\001 odd.key\"]: is no known key; known here: "
                  "maxAttempts, timeout",
                  "max_attempts: is no known key; did you mean "
                  "\"maxAttempts\"?",
                  "maxAtempts: is no known key; did you mean \"maxAttempts\"?",
                  "quite: is no known key; known here: maxAttempts, timeout"));
}

TEST(ProblemListTest, StandsInTheOrderOfTheDocument) {
  const absl::string_view text = R"({"b":[{"y":1,"x":2},{}],"a":3})";
  ProblemList problems;
  for (const char* path : {"a", "b[1].missing", "b[0].x", "b[0].y", ""}) {
    problems.AddError(path, "wrong");
  }
  problems.Sort(text);
  EXPECT_THAT(Paths(problems.errors()),
              ElementsAre("", "b[0].y", "b[0].x", "b[1].missing", "a"));
}

TEST(ProblemListTest, KeepsAThousandAndCountsTheRest) {
  ProblemList problems;
  for (int i = 0; i < 1234; ++i) problems.AddError("a", "wrong");
  problems.Sort("{}");
  ASSERT_EQ(problems.errors().size(), ProblemList::kMaxProblems + 1);
  EXPECT_EQ(problems.errors().back().ToString(), "and 234 more");
}

}  // namespace
}  // namespace redial
