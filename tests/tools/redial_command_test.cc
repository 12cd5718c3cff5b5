// The commands `redial check` and `redial explain`, run in this process.

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "redial/config/json_document.h"
#include "redial/core/call_report.h"
#include "tools/redial/command_line.h"
#include "tools/redial/text_layout.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::string_view kGood = R"({
  "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1},
  "methodConfig": [
    {"name": [{"service": "shop.Orders"}], "timeout": "10s",
     "retryPolicy": {"maxAttempts": 3, "initialBackoff": "1s",
       "maxBackoff": "4s", "backoffMultiplier": 2,
       "retryableStatusCodes": ["UNAVAILABLE"]}},
    {"name": [{"service": "shop.Orders", "method": "Delete"}],
     "waitForReady": true},
    {"name": [{}],
     "redial": {"retry": {"maxAttempts": 4}, "attemptTimeout": "2s",
                "retryBudget": {}, "idempotencyKey": {"generate": true},
                "attemptLimits": [{"code": "UNAVAILABLE", "maxAttempts": 2}]}}
  ]})";

constexpr absl::string_view kInvalid = R"({
  "methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 1},
                    "timeout": 5, "redial": {"backof": {}}}]})";

constexpr absl::string_view kUnwise = R"({
  "methodConfig": [{"name": [{}], "timeout": "0.5s",
    "retryPolicy": {"maxAttempts": 50, "initialBackoff": "1s",
      "maxBackoff": "4s", "backoffMultiplier": 2,
      "retryableStatusCodes": ["INTERNAL", "RESOURCE_EXHAUSTED"]}}]})";

// With files of known, short names in the working directory.
class RedialCommandTest : public ::testing::Test {
 protected:
  RedialCommandTest() {
    EXPECT_EQ(chdir(::testing::TempDir().c_str()), 0);
    Write("good.json", kGood);
    Write("invalid.json", kInvalid);
    Write("unwise.json", kUnwise);
  }

  static void Write(const std::string& name, absl::string_view text) {
    std::ofstream(name, std::ios::binary) << text;
  }

  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    const int exit_code = RunRedial(args, out_, err_);
    for (const std::string& text : {out(), err()}) {
      for (absl::string_view line : absl::StrSplit(text, '\n')) {
        // JSON is not for reading.
        if (absl::StartsWith(text, "{")) break;
        EXPECT_LE(line.size(), kMaxColumns) << line;
      }
      EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "colour without a terminal";
    }
    return exit_code;
  }

  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  // The members of the JSON object that was printed.
  google::protobuf::Map<std::string, google::protobuf::Value> Json() const {
    const auto document = JsonDocument::Parse(out());
    EXPECT_TRUE(document.ok()) << document.status();
    return document.ok() ? document->root().struct_value().fields()
                         : google::protobuf::Struct().fields();
  }

 private:
  std::ostringstream out_, err_;
};

TEST_F(RedialCommandTest, HelpNamesEveryCommand) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out(), AllOf(HasSubstr("check"), HasSubstr("explain")));
  for (const char* command : {"check", "explain"}) {
    EXPECT_EQ(Run({command, "--help"}), 0);
    EXPECT_THAT(out(), StartsWith(absl::StrCat("redial ", command, " FILE")));
    EXPECT_THAT(out(), HasSubstr("Exit code: 0"));
  }
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out(), absl::StrCat("redial ", kRedialVersion, "\n"));
}

TEST_F(RedialCommandTest, WrongArgumentsAreSaid) {
  struct Case {
    std::vector<std::string> args;
    const char* message;
  };
  const Case cases[] = {
      {{}, "redial COMMAND"},
      {{"chek"}, "unknown command chek"},
      {{"check"}, "name at least one file"},
      {{"check", "--jsn", "good.json"}, "unknown flag --jsn"},
      {{"check", "-j", "good.json"}, "unknown flag -j"},
      {{"check", "--json=1", "good.json"}, "--json takes no value"},
      {{"check", "--dialect", "good.json"}, "--dialect needs a value"},
      {{"check", "--dialect=xml", "good.json"}, "must be grpc or gapic"},
      {{"check", "--json", "--json", "good.json"}, "given twice"},
      {{"explain", "--method=/a.B/C"}, "name one file"},
      {{"explain", "good.json"}, "--method=/package.Service/Method"},
      {{"explain", "good.json", "--method=a.B/C"}, "--method is \"a.B/C\""},
      {{"explain", "good.json", "--method=//C"}, "--method is \"//C\""},
      {{"explain", "good.json", "--method=/a/b/C"}, "--method is"},
      {{"explain", "good.json", "--method=/a/"}, "--method is"},
      {{"explain", "good.json", "--method=/a.B/C", "--idempotency=yes"},
       "must be unknown, idempotent or no-side-effects"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Run(c.args), 2) << c.message;
    EXPECT_THAT(err(), HasSubstr(c.message));
    EXPECT_THAT(out(), IsEmpty());
  }
}

TEST_F(RedialCommandTest, CheckTellsItsVerdictByExitCode) {
  EXPECT_EQ(Run({"check", "good.json"}), 0);
  EXPECT_EQ(out(), "good.json: valid\n");
  EXPECT_EQ(Run({"check", "unwise.json"}), 0);
  EXPECT_EQ(Run({"check", "good.json", "invalid.json"}), 1);
  EXPECT_EQ(Run({"check", "missing.json", "invalid.json"}), 2);
  EXPECT_THAT(out(), AllOf(HasSubstr("unreadable: missing.json"),
                           HasSubstr("invalid.json: invalid, 7 errors")));
}

TEST_F(RedialCommandTest, CheckShowsPlacesAndCures) {
  Run({"check", "invalid.json"});
  EXPECT_THAT(
      out(),
      AllOf(HasSubstr("  error  methodConfig[0].retryPolicy.maxAttempts\n"
                      "      is 1; must be an integer, at least 2\n"),
            HasSubstr("methodConfig[0].retryPolicy.initialBackoff\n"
                      "      is missing; must be a duration"),
            HasSubstr("did you mean \"backoff\"?")));
}

TEST_F(RedialCommandTest, CheckWarnsOfWhatIsUnwise) {
  Run({"check", "unwise.json"});
  EXPECT_THAT(out(), AllOf(HasSubstr("unwise.json: valid, 5 warnings"),
                           HasSubstr("counts as 5 (gRFC A6)"),
                           HasSubstr("lists INTERNAL"),
                           HasSubstr("lists RESOURCE_EXHAUSTED"),
                           HasSubstr("shorter than the first backoff"),
                           HasSubstr("warning  retryThrottling\n")));
}

TEST_F(RedialCommandTest, CheckReadsTheGapicDialect) {
  Write("gapic.json", R"({"methodConfig":[{"name":[{}],"timeout":"60s",
      "retryPolicy":{"initialBackoff":"1s","maxBackoff":"4s",
      "backoffMultiplier":2,"retryableStatusCodes":["UNAVAILABLE"]}}]})");
  EXPECT_EQ(Run({"check", "gapic.json"}), 1);
  EXPECT_EQ(Run({"check", "--dialect=gapic", "gapic.json"}), 0);
  EXPECT_EQ(
      Run({"explain", "gapic.json", "--dialect=gapic", "--method=/a.B/C"}), 0);
  EXPECT_THAT(out(), AllOf(HasSubstr("any number, until the deadline"),
                           ContainsRegex("worst case +60s")));
}

TEST_F(RedialCommandTest, CheckWritesJson) {
  EXPECT_EQ(Run({"check", "--json", "good.json", "invalid.json", "none.json"}),
            2);
  const auto files = Json()["files"].list_value();
  ASSERT_EQ(files.values_size(), 3);
  const auto file = [&](int i) {
    return files.values(i).struct_value().fields();
  };
  EXPECT_EQ(file(0).at("verdict").string_value(), "VALID");
  EXPECT_EQ(file(1).at("verdict").string_value(), "INVALID");
  EXPECT_EQ(file(2).at("verdict").string_value(), "UNREADABLE");
  const auto error =
      file(1).at("errors").list_value().values(0).struct_value().fields();
  EXPECT_THAT(error.at("path").string_value(),
              StartsWith("methodConfig[0].retryPolicy."));
}

TEST_F(RedialCommandTest, ExplainNamesTheEntryAndWhy) {
  Run({"explain", "good.json", "--method=/shop.Orders/Create"});
  EXPECT_THAT(out(), HasSubstr("methodConfig[0].name[0], which names the "
                               "service, and no entry names the method"));
  Run({"explain", "good.json", "--method=/shop.Orders/Delete"});
  EXPECT_THAT(out(), AllOf(HasSubstr("methodConfig[1].name[0], which names "
                                     "exactly this method"),
                           HasSubstr("does nothing for this method")));
  Run({"explain", "good.json", "--method=/other.Service/Get"});
  EXPECT_THAT(out(), HasSubstr("methodConfig[2].name[0], which is the "
                               "default"));
  Write("empty.json", "{}");
  EXPECT_EQ(Run({"explain", "empty.json", "--method=/a.B/C"}), 0);
  EXPECT_THAT(out(), HasSubstr("none: no entry names the method"));
}

TEST_F(RedialCommandTest, ExplainHasARowForEachCode) {
  Run({"explain", "good.json", "--method=/shop.Orders/Create"});
  for (int code = 0; code <= 16; ++code) {
    EXPECT_THAT(
        out(),
        HasSubstr(absl::StrCat(
            "\n  ", CodeName(static_cast<absl::StatusCode>(code)), " ")));
  }
  EXPECT_THAT(out(), ContainsRegex("UNAVAILABLE +TRANSIENT +yes +the config"));
  EXPECT_THAT(out(), ContainsRegex("INTERNAL +PERMANENT +no +not an error"));
  EXPECT_THAT(out(), ContainsRegex("OK +SUCCESS +- +success"));
}

TEST_F(RedialCommandTest, ExplainKnowsWaitsTimesAndLimits) {
  Run({"explain", "good.json", "--method=/shop.Orders/Create"});
  EXPECT_THAT(out(), ContainsRegex("before 2 +0.8s to 1.2s +together 0.8s"));
  EXPECT_THAT(out(),
              ContainsRegex("before 3 +1.6s to 2.4s +together 2.4s to 3.6s"));
  EXPECT_THAT(out(), ContainsRegex("worst case +10s, when the timeout ends"));
  EXPECT_THAT(out(), ContainsRegex("throttling +10 tokens"));
  EXPECT_THAT(out(), ContainsRegex("; 5[ \n]+failures in a row stop all"));
  EXPECT_THAT(out(), HasSubstr("grpc-retry-pushback-ms: 2000: retried after "
                               "2s (PUSHBACK)"));
  EXPECT_THAT(out(), HasSubstr("grpc-retry-pushback-ms: -1: not retried"));

  Run({"explain", "good.json", "--method=/other.Service/Get"});
  // Four attempts of 2s and waits of at most 0.5s, 1s and 2s.
  EXPECT_THAT(out(), ContainsRegex("worst case +11.5s"));
  EXPECT_THAT(out(), ContainsRegex("budget +retries: 20%"));
  EXPECT_THAT(out(), HasSubstr("at most 2 attempts that end UNAVAILABLE"));
  EXPECT_THAT(out(), HasSubstr("because each call carries a key"));
  EXPECT_THAT(out(), HasSubstr("an attempt that takes 2s: retried"));

  Write("unbounded.json",
        R"({"methodConfig":[{"name":[{}],"redial":{"retry":{}}}]})");
  Run({"explain", "unbounded.json", "--method=/a.B/C"});
  EXPECT_THAT(out(), ContainsRegex("worst case +unbounded without a deadline"));
}

TEST_F(RedialCommandTest, ExplainTakesTheDescriptorsIdempotency) {
  Write("classes.json",
        R"({"methodConfig":[{"name":[{}],"redial":{"retry":{}}}]})");
  const std::vector<std::string> args = {"explain", "classes.json",
                                         "--method=/a.B/C"};
  Run(args);
  EXPECT_THAT(out(), ContainsRegex("UNAVAILABLE +TRANSIENT +no +the server "
                                   "may have acted"));
  for (const char* level : {"idempotent", "no-side-effects"}) {
    auto with_level = args;
    with_level.push_back(absl::StrCat("--idempotency=", level));
    Run(with_level);
    EXPECT_THAT(out(), ContainsRegex("UNAVAILABLE +TRANSIENT +yes +the method "
                                     "may run twice"));
    EXPECT_THAT(out(), HasSubstr("as its descriptor says"));
  }
}

TEST_F(RedialCommandTest, ExplainRefusesAnInvalidConfig) {
  EXPECT_EQ(Run({"explain", "invalid.json", "--method=/a.B/C"}), 1);
  EXPECT_THAT(err(), HasSubstr("invalid.json: invalid, 7 errors"));
  EXPECT_THAT(out(), IsEmpty());
  EXPECT_EQ(Run({"explain", "missing.json", "--method=/a.B/C"}), 2);
}

TEST_F(RedialCommandTest, ExplainWritesJson) {
  EXPECT_EQ(
      Run({"explain", "good.json", "--json", "--method=/shop.Orders/Create"}),
      0);
  auto json = Json();
  EXPECT_EQ(json["entry"].struct_value().fields().at("match").string_value(),
            "SERVICE");
  EXPECT_EQ(json["codes"].list_value().values_size(), 17);
  EXPECT_EQ(json["waits"].list_value().values_size(), 2);
  EXPECT_EQ(json["maxAttempts"].number_value(), 3);
  EXPECT_EQ(json["worstCase"].string_value(), "10s");
}

TEST_F(RedialCommandTest, CheckCountsNoMoreThanItShows) {
  std::string json = "{\"methodConfig\": [0";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&json, ",0");
  Write("many.json", absl::StrCat(json, "]}"));
  EXPECT_EQ(Run({"check", "many.json"}), 1);
  EXPECT_THAT(out(), StartsWith("many.json: invalid, more than 1000 errors\n"));
}

TEST(TextLayoutTest, WrapsAtTheMargin) {
  const std::string word(120, 'x');
  for (absl::string_view line : absl::StrSplit(
           Wrapped("label  ", absl::StrCat("a ", word, " b")), '\n')) {
    EXPECT_LE(line.size(), kMaxColumns);
  }
  EXPECT_EQ(Wrapped("a ", "b c"), "a b c\n");
  EXPECT_EQ(Palette(true)(Tone::kBad, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Palette(false)(Tone::kBad, "x"), "x");
}

}  // namespace
}  // namespace redial
