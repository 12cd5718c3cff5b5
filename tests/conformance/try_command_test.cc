#include "tools/redial/try_command.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr char kConfig[] = R"("serviceConfig": {"methodConfig": [{"name": [{}],
    "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.01s",
    "maxBackoff": "0.1s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"]}}]})";
constexpr char kCall[] = R"({"grpc": {"method": "/redial.v1.Echo/Unary"}})";
constexpr char kAnswers[] = R"("server": [
    {"status": "UNAVAILABLE", "message": "\u001b[2Jbusy",
     "trailers": {"x-zone": "b"}}, {"status": "OK"}])";

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

Ran Try(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  Ran ran;
  ran.code = RunTry(args, out, err);
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

std::string File(const std::string& json) {
  static int files = 0;
  const std::string path =
      absl::StrCat(std::getenv("TEST_TMPDIR"), "/scenario", ++files, ".json");
  std::ofstream(path) << json;
  return path;
}

std::string Scenario(const std::string& expect) {
  return File(absl::StrCat("{\"name\": \"n\", ", kConfig, ", \"calls\": [",
                           kCall, "], ", kAnswers, ", ", expect, "}"));
}

std::vector<std::string> KeysOf(const google::protobuf::Struct& object) {
  std::vector<std::string> keys;
  for (const auto& field : object.fields()) keys.push_back(field.first);
  return keys;
}

TEST(TryCommandTest, ExitCodeSaysWhetherExpectationsHold) {
  for (const char* on : {"--on=sim", "--on=grpc"}) {
    const Ran holds = Try({Scenario(R"("expect": {"calls": [{"code": "OK",
        "attempts": 2, "stopReason": "SUCCESS", "waits": [{"atMost": "0.012s"}],
        "elapsed": {"atMost": "60s"}}]})"),
                           on});
    EXPECT_EQ(holds.code, 0) << holds.err;
    EXPECT_THAT(holds.out, HasSubstr("All expectations hold."));

    const Ran fails = Try({Scenario(R"("expect": {"calls": [{"code": "ABORTED",
        "attempts": 9, "stopReason": "DEADLINE", "waits": [],
        "elapsed": {"atLeast": "60s"}}, {}]})"),
                           on});
    EXPECT_EQ(fails.code, 1);
    for (const char* failure :
         {"calls[0].code: OK; expected ABORTED",
          "calls[0].attempts: 2; expected 9",
          "calls[0].stopReason: SUCCESS; expected DEADLINE",
          "calls[0].waits: 1 retries; expected 0 retries",
          "calls[0].elapsed: ", "calls[1]: only 1 calls were made"}) {
      EXPECT_THAT(fails.out, HasSubstr(failure));
    }
  }
}

TEST(TryCommandTest, WrongArgumentsAndFilesAreCodeTwo) {
  const std::string good = Scenario("\"expect\": {}");
  struct Row {
    std::vector<std::string> args;
    std::string message;
  };
  const std::vector<Row> rows = {
      {{}, "usage: redial try FILE"},
      {{"/nowhere/scenario.json"}, "/nowhere/scenario.json: error: "},
      {{good, "--on=moon"}, "--on is moon; must be sim or grpc"},
      {{good, "--on=http"}, "HTTP is not in this version"},
      {{good, "--seed=x"}, "--seed is x; must be a whole number"},
      {{good, "--sed=1"}, "unknown flag --sed"},
      {{good, good}, "name one file"},
      {{File("{\"calls\": 3}")}, "calls: is 3; must be an array"},
      {{File(R"({"calls": [{"http": {"method": "GET", "path": "/"}}]})")},
       "HTTP is not in this version"},
      {{File(R"({"calls": [{"http": {"method": "GET", "path": "/"}}]})"),
        "--on=sim"},
       "HTTP is not in it"},
      {{File(absl::StrCat("{\"calls\": [", kCall,
                          "], \"server\": [{\"hang\": true}]}"))},
       "calls[0]: never ends"},
  };
  for (const Row& row : rows) {
    const Ran ran = Try(row.args);
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr(row.message));
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST(TryCommandTest, WhatRecordsTooMuchIsNotRun) {
  const std::string file =
      File(absl::StrCat(R"({"calls": [{"grpc": {"method": "/a.B/C"},
          "metadata": {"x": ")",
                        std::string(6000, 'x'), "\"}, \"repeat\": 100000}]}"));
  for (const char* on : {"--on=sim", "--on=grpc"}) {
    const Ran ran = Try({file, on});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("calls: metadata and messages of all"));
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST(TryCommandTest, ReadsAPipeOnce) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string json = absl::StrCat("{\"calls\": [", kCall,
                                        "], \"server\": [{\"hang\": true}]}");
  ASSERT_EQ(write(ends[1], json.data(), json.size()),
            static_cast<ssize_t>(json.size()));
  close(ends[1]);
  const Ran ran = Try({absl::StrCat("/dev/fd/", ends[0])});
  close(ends[0]);
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("calls[0]: never ends"));
}

TEST(TryCommandTest, TheSimulationSaysWhatACallSays) {
  const std::string file = File(R"({"serviceConfig": {"methodConfig": [{
      "name": [{}], "redial": {"retry": {"maxAttempts": 3},
      "attemptTimeout": "0.05s", "explainInMessage": true}}]},
      "calls": [{"grpc": {"method": "/redial.v1.Echo/Unary"}}],
      "server": [{"hang": true}]})");
  for (const char* on : {"--on=sim", "--on=grpc"}) {
    EXPECT_THAT(Try({file, on, "--json"}).out,
                HasSubstr("\"attempt timeout of 50ms exceeded [redial: "
                          "DEADLINE_EXCEEDED after 1 attempt in "))
        << on;
  }
}

TEST(TryCommandTest, HelpIsNoError) {
  const Ran ran = Try({"--help"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, StartsWith("usage: redial try FILE"));
}

TEST(TryCommandTest, JsonHoldsEveryFieldAndNothingElse) {
  for (const char* on : {"sim", "grpc"}) {
    const Ran ran = Try({Scenario(R"("expect": {"calls": [{"attempts": 7}]})"),
                         "--json", absl::StrCat("--on=", on), "--seed=5"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("calls[0].attempts: 2; expected 7"));
    google::protobuf::Struct result;
    ASSERT_TRUE(
        google::protobuf::util::JsonStringToMessage(ran.out, &result).ok())
        << ran.out;
    EXPECT_THAT(KeysOf(result),
                UnorderedElementsAre("name", "on", "calls", "server"));
    EXPECT_EQ(result.fields().at("on").string_value(), on);

    const auto& calls = result.fields().at("calls").list_value();
    ASSERT_EQ(calls.values_size(), 1);
    const auto& call = calls.values(0).struct_value();
    EXPECT_THAT(KeysOf(call),
                UnorderedElementsAre("code", "message", "stopReason", "elapsed",
                                     "idempotencyKey", "attempts", "trailers"));
    EXPECT_EQ(call.fields().at("idempotencyKey").string_value(), "");
    const auto& attempts = call.fields().at("attempts").list_value();
    ASSERT_EQ(attempts.values_size(), 2);
    for (const auto& attempt : attempts.values()) {
      EXPECT_THAT(KeysOf(attempt.struct_value()),
                  UnorderedElementsAre("number", "kind", "code", "class",
                                       "wait", "waitFrom", "start", "end"));
    }
    const auto& first = attempts.values(0).struct_value().fields();
    EXPECT_EQ(first.at("number").number_value(), 1);
    EXPECT_EQ(first.at("kind").string_value(), "FIRST");
    EXPECT_EQ(first.at("class").string_value(), "TRANSIENT");
    EXPECT_EQ(first.at("wait").string_value(), "0s");
    EXPECT_EQ(first.at("waitFrom").string_value(), "NONE");

    const auto& server = result.fields().at("server").list_value();
    ASSERT_EQ(server.values_size(), 2);
    const auto& entry = server.values(1).struct_value();
    EXPECT_THAT(KeysOf(entry), UnorderedElementsAre("attempt", "at", "metadata",
                                                    "deadline", "cancelled"));
    EXPECT_EQ(entry.fields().at("attempt").number_value(), 2);
    EXPECT_EQ(entry.fields().at("deadline").string_value(), "0s");
    EXPECT_EQ(entry.fields()
                  .at("metadata")
                  .struct_value()
                  .fields()
                  .at("redial-previous-attempts")
                  .list_value()
                  .values(0)
                  .string_value(),
              "1");
  }
}

TEST(TryCommandTest, OneSeedGivesOneSetOfWaits) {
  const std::string file = Scenario("\"expect\": {}");
  const Ran once = Try({file, "--json", "--on=sim", "--seed=5"});
  EXPECT_EQ(once.out, Try({file, "--json", "--on=sim", "--seed=5"}).out);
  EXPECT_NE(once.out, Try({file, "--json", "--on=sim", "--seed=6"}).out);
}

TEST(TryCommandTest, TheTimelineIsPlainAndNarrow) {
  const std::string file =
      File(absl::StrCat("{", kConfig, R"(, "calls": [{"grpc": {"method":
          "/redial.v1.Echo/Unary"}, "timeout": "2s", "metadata": {"x-long": ")",
                        std::string(300, 'm'), "\"}}], ", R"("server": [
          {"status": "UNAVAILABLE", "message": "\u001b[2J\u009b busy"}]})"));
  const Ran ran = Try({file, "--on=sim"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("first 1: UNAVAILABLE (TRANSIENT)"),
                             HasSubstr("retry 3: UNAVAILABLE"),
                             HasSubstr("backoff of the policy"),
                             HasSubstr("attempts exhausted"),
                             HasSubstr("redial-previous-attempts"),
                             HasSubstr("Server: 3 requests")));
  // What the peer sends does not reach the terminal.
  EXPECT_THAT(ran.out, Not(HasSubstr("\033")));
  EXPECT_THAT(ran.out, Not(HasSubstr("\xc2\x9b")));
  for (const absl::string_view line : absl::StrSplit(ran.out, '\n')) {
    size_t columns = 0;
    for (unsigned char c : line) columns += (c & 0xc0) != 0x80 ? 1 : 0;
    EXPECT_LE(columns, 100u) << line;
  }
}

TEST(TryCommandTest, AThousandCallsAreSummedUp) {
  const std::string file = File(absl::StrCat(
      "{", kConfig, R"(, "calls": [{"grpc": {"method": "/redial.v1.Echo/Unary"},
      "repeat": 1000, "concurrency": 20}], "server": [
      {"status": "UNAVAILABLE"}]})"));
  for (const char* on : {"--on=sim", "--on=grpc"}) {
    const Ran ran = Try({file, on});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("... and 950 more calls"),
                               HasSubstr("1000  attempts exhausted"),
                               HasSubstr("Server: 3000 requests")));
  }
}

}  // namespace
}  // namespace redial
