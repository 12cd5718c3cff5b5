#include "redial/config/json_scanner.h"

#include <cstdint>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/config/json_document.h"

namespace redial {
namespace {

using ::testing::HasSubstr;

std::string Nested(int depth) {
  return absl::StrCat(std::string(static_cast<size_t>(depth), '['),
                      std::string(static_cast<size_t>(depth), ']'));
}

TEST(JsonScannerTest, AcceptsWhatRfc8259Has) {
  const absl::string_view texts[] = {
      "{}",
      "[]",
      " [ 1 , 2 ] ",
      "5",
      "\"a\"",
      "null",
      R"({"a":{"b":[true,false,null]},"c":""})",
      "[0,-0,1.5,1e3,1E+3,1e-3,-12.25e2]",
      R"(["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"])",
      "[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"]",
      "\t{\r\n}\n",
      R"({"a":1,"A":1,"":1})",
  };
  for (absl::string_view text : texts) {
    EXPECT_TRUE(ScanJson(text).ok()) << text << "\n" << ScanJson(text);
    EXPECT_TRUE(JsonDocument::Parse(text).ok()) << text;
  }
  EXPECT_TRUE(ScanJson(Nested(kMaxJsonDepth)).ok());
}

struct BadText {
  const char* name;
  std::string text;
  const char* message;
};

TEST(JsonScannerTest, RefusesTheRestAndSaysWhereAndWhy) {
  const std::string nul("{\"a\"\0:1}", 9);
  const BadText cases[] = {
      {"empty", "", "line 1, column 1: the text ends where a value is needed"},
      {"only space", " \n ", "line 2, column 2: the text ends"},
      {"key without quotes", "{a:1}", "column 2: found 'a' where a key in"},
      {"single quotes", "{'a':1}", "JSON strings stand in double quotes"},
      {"comma at the end of an object", "{\"a\":1,}", "no comma before '}'"},
      {"comma at the end of an array", "[1,\n]", "no comma before ']'"},
      {"comma alone", "[,]", "found ',' where a value is needed"},
      {"no comma", "[1 2]", "found '2' where ',' or ']' is needed"},
      {"no colon", "{\"a\" 1}", "found '1' where ':' is needed"},
      {"line comment", "{\n// x\n}", "line 2, column 1: JSON has no comments"},
      {"block comment", "[/* */]", "JSON has no comments"},
      {"two values", "{} {}", "where the end of the text is needed"},
      {"unclosed object", "{\"a\":1", "the text ends where ',' or '}'"},
      {"unclosed string", "[\"abc]", "column 2: this string has no end"},
      {"wrong bracket", "[1}", "found '}' where ',' or ']'"},
      {"byte order mark", "\xef\xbb\xbf{}", "byte order mark"},
      {"UTF-16", std::string("\xff\xfe{\0}\0", 6), "UTF-16"},
      {"NUL", nul, "found byte 0x00 where ':' is needed"},
      {"NUL in a string", std::string("[\"a\0\"]", 6), "byte 0x00 in a string"},
      {"line feed in a string", "[\"a\n\"]", "write it as \\u000a"},
      {"Latin-1", "[\"\xe9\"]", "byte 0xe9: the text is not UTF-8"},
      {"overlong UTF-8", "[\"\xc0\xaf\"]", "not UTF-8"},
      {"surrogate in UTF-8", "[\"\xed\xa0\x80\"]", "not UTF-8"},
      {"beyond U+10FFFF", "[\"\xf4\x90\x80\x80\"]", "not UTF-8"},
      {"cut UTF-8", "[\"\xe2\x82", "not UTF-8"},
      {"unknown escape", R"(["\x"])", "a backslash stands before one of"},
      {"short \\u", R"(["\u12"])", "four hexadecimal digits"},
      {"half a pair", R"(["\ud800"])", "half of a surrogate pair"},
      {"the other half", R"(["\udc00"])", "half of a surrogate pair"},
      {"two first halves", R"(["\ud800\ud800"])", "half of a surrogate pair"},
      {"NaN", "[NaN]", "NaN is no JSON value"},
      {"Infinity", "[-Infinity]", "-Infinity is no JSON value"},
      {"True", "[True]", "True is no JSON value"},
      {"leading zero", "[01]", "01 is no JSON value"},
      {"plus sign", "[+1]", "+1 is no JSON value"},
      {"no digit before the point", "[.5]", ".5 is no JSON value"},
      {"no digit after the point", "[1.]", "1. is no JSON value"},
      {"hexadecimal", "[0x10]", "0x10 is no JSON value"},
      {"no exponent", "[1e]", "1e is no JSON value"},
      {"beyond a double", "[1e999]", "1e999 is beyond the range of a double"},
      {"key twice", R"({"a":1,"a":2})", "column 8: the key \"a\" stands twice"},
      {"key twice, in another spelling", R"({"a":1,"\u0061":2})", "twice"},
      {"key twice, inside", R"([{"b":{"a":1,"a":2}}])", "twice"},
      {"too deep", Nested(kMaxJsonDepth + 1), "more than 32 objects"},
      {"far too deep", Nested(100000), "more than 32 objects"},
  };
  for (const BadText& bad : cases) {
    const absl::Status status = ScanJson(bad.text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.message))
        << bad.name;
    EXPECT_EQ(JsonDocument::Parse(bad.text).status(), status) << bad.name;
  }
}

// What the scanner lets through, protobuf must be able to read.
TEST(JsonScannerTest, WhatItAcceptsProtobufReads) {
  const auto seed = std::random_device()();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  const absl::string_view pieces[] = {
      "{",   "}",    "[",   "]",    ",",    ":",     "\"a\"", "\"b\"",
      "1",   "-",    "1.5", "1e2",  "true", "nul",   "null",  "\"",
      "\\u", "d800", " ",   "\xc3", "\xa9", "\"\"",  "'",     "1e400",
      "e",   "0",    ".",   "/",    "\n",   "\"\\n", "\"c\":"};
  constexpr int kTexts = 30000;
  int accepted = 0;
  for (int i = 0; i < kTexts; ++i) {
    std::string text;
    const int length = std::uniform_int_distribution<int>(1, 9)(random);
    for (int j = 0; j < length; ++j) {
      absl::StrAppend(&text, pieces[std::uniform_int_distribution<size_t>(
                                 0, std::size(pieces) - 1)(random)]);
    }
    if (!ScanJson(text).ok()) continue;
    ++accepted;
    EXPECT_TRUE(JsonDocument::Parse(text).ok())
        << text << "\n"
        << JsonDocument::Parse(text).status();
  }
  EXPECT_GT(accepted, 100);
}

TEST(JsonDocumentTest, RefusesALongTextUnread) {
  const std::string text(size_t{100} << 20, '[');
  EXPECT_EQ(JsonDocument::Parse(text).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(JsonDocumentTest, FilterKeepsOrderAndSpelling) {
  const std::string filtered = FilterJson(
      R"({ "z": 1.50, "gone": {"x": [1, {}]}, "a": [ 1, [], {"gone": 2} ] })",
      [](absl::string_view path, std::string*) { return path != "gone"; });
  EXPECT_EQ(filtered, R"({"z":1.50,"a":[1,[],{"gone":2}]})");
}

TEST(JsonDocumentTest, GivesTheTextOfAPart) {
  const absl::string_view text =
      R"({"a": {"b": [ {"c": 1.0, "d": "[{"} , 2 ], "bb": 3}})";
  EXPECT_EQ(JsonTextAt(text, "a.b[0]"), R"({"c":1.0,"d":"[{"})");
  EXPECT_EQ(JsonTextAt(text, "a.b"), R"([{"c":1.0,"d":"[{"},2])");
  EXPECT_EQ(JsonTextAt(text, "a.b[1]"), "2");
  EXPECT_EQ(JsonTextAt(text, ""),
            R"({"a":{"b":[{"c":1.0,"d":"[{"},2],"bb":3}})");
  EXPECT_EQ(JsonTextAt(text, "a.x"), "");
}

}  // namespace
}  // namespace redial
