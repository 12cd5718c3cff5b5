#include "tools/redial/scenario/scenario_reader.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace redial {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr char kCall[] = R"({"grpc": {"method": "/a.B/C"}})";

std::vector<std::string> ErrorsOf(const std::string& json) {
  std::vector<std::string> errors;
  for (const ConfigProblem& problem : ReadScenario(json, "").errors) {
    errors.push_back(problem.ToString());
  }
  return errors;
}

TEST(ScenarioReaderTest, ReadsEveryField) {
  const ScenarioFile file = ReadScenario(R"({
    "name": "all of it",
    "serviceConfig": {"methodConfig": [{"name": [{}], "timeout": "3s"}]},
    "calls": [{
      "grpc": {"method": "/redial.v1.Echo/Unary", "api": "REACTOR"},
      "http": {"method": "POST", "path": "/v1/runs", "headers": {"X-A": "1"},
               "body": "{}", "replayable": false},
      "timeout": "2s",
      "metadata": {"x-team": ["blue", "green"], "x-raw-bin": "AAH/"},
      "cancelAfter": "0.5s",
      "options": {"maxAttempts": 3, "attemptTimeout": "0.2s",
                  "idempotencyKey": "build-8812"},
      "repeat": 4, "concurrency": 2, "startAfter": "0s"
    }],
    "server": [
      {"status": "UNAVAILABLE", "message": "busy", "delay": "0.01s",
       "initialMetadata": {"x-early": "1"},
       "trailers": {"grpc-retry-pushback-ms": "40"}, "retryInfo": "0.2s",
       "messages": 2, "httpStatus": 503, "headers": {"Retry-After": "1"},
       "body": "later"},
      {"drop": true}, {"hang": true}, {"httpStatus": 404}, {}
    ],
    "expect": {"calls": [{"code": "OK", "attempts": 3, "stopReason": "SUCCESS",
      "elapsed": {"atLeast": "0.1s", "atMost": "0.3s"},
      "waits": [{"atLeast": "0.04s"}, {}]}]}
  })",
                                         "");
  ASSERT_THAT(file.errors, IsEmpty());
  const Scenario& scenario = *file.scenario;
  EXPECT_EQ(scenario.name, "all of it");
  EXPECT_EQ((*scenario.policy->Find("/a.B/C"))->timeout, absl::Seconds(3));

  ASSERT_THAT(scenario.calls, SizeIs(1));
  const ScenarioCall& call = scenario.calls[0];
  EXPECT_EQ(call.grpc->method, "/redial.v1.Echo/Unary");
  EXPECT_EQ(call.grpc->api, GrpcApi::kReactor);
  EXPECT_EQ(call.http->path, "/v1/runs");
  EXPECT_FALSE(call.http->replayable);
  EXPECT_THAT(call.http->headers, ElementsAre(Pair("x-a", "1")));
  EXPECT_EQ(call.timeout, absl::Seconds(2));
  EXPECT_THAT(call.metadata,
              ElementsAre(Pair("x-raw-bin", std::string("\0\x01\xff", 3)),
                          Pair("x-team", "blue"), Pair("x-team", "green")));
  EXPECT_EQ(call.cancel_after, absl::Milliseconds(500));
  EXPECT_EQ(call.options.max_attempts, 3);
  EXPECT_EQ(call.options.attempt_timeout, absl::Milliseconds(200));
  EXPECT_EQ(call.options.idempotency_key, "build-8812");
  EXPECT_EQ(call.repeat, 4);
  EXPECT_EQ(call.concurrency, 2);
  EXPECT_EQ(call.start_after, absl::ZeroDuration());

  ASSERT_THAT(scenario.server, SizeIs(5));
  const ScenarioAnswer& answer = scenario.server[0];
  EXPECT_EQ(answer.status, absl::StatusCode::kUnavailable);
  EXPECT_EQ(answer.message, "busy");
  EXPECT_EQ(answer.delay, absl::Milliseconds(10));
  EXPECT_THAT(answer.initial_metadata, ElementsAre(Pair("x-early", "1")));
  EXPECT_THAT(answer.trailers,
              ElementsAre(Pair("grpc-retry-pushback-ms", "40")));
  EXPECT_EQ(answer.retry_info, absl::Milliseconds(200));
  EXPECT_EQ(answer.messages, 2);
  EXPECT_EQ(answer.http_status, 503);
  EXPECT_TRUE(scenario.server[1].drop);
  EXPECT_TRUE(scenario.server[2].hang);
  EXPECT_EQ(scenario.server[3].status, absl::StatusCode::kNotFound);
  EXPECT_EQ(scenario.server[4].status, absl::StatusCode::kOk);

  ASSERT_THAT(scenario.expect, SizeIs(1));
  EXPECT_EQ(scenario.expect[0].stop_reason, StopReason::kSuccess);
  EXPECT_EQ(scenario.expect[0].elapsed->at_most, absl::Milliseconds(300));
  ASSERT_THAT(*scenario.expect[0].waits, SizeIs(2));
  EXPECT_EQ((*scenario.expect[0].waits)[1].at_most, absl::InfiniteDuration());
}

TEST(ScenarioReaderTest, AbsentMeansWhatTheSchemaSays) {
  const ScenarioFile file =
      ReadScenario(absl::StrCat("{\"calls\": [", kCall, "]}"), "");
  ASSERT_THAT(file.errors, IsEmpty());
  const ScenarioCall& call = file.scenario->calls[0];
  EXPECT_EQ(call.repeat, 1);
  EXPECT_EQ(call.concurrency, 1);
  EXPECT_EQ(call.grpc->api, GrpcApi::kSync);
  EXPECT_EQ(call.timeout, absl::nullopt);
  EXPECT_EQ(call.start_after, absl::nullopt);
  EXPECT_TRUE(file.scenario->policy->empty());
  ASSERT_THAT(file.scenario->server, SizeIs(1));
  EXPECT_EQ(file.scenario->server[0].delay, absl::ZeroDuration());
}

TEST(ScenarioReaderTest, NamesThePlaceOfEveryError) {
  struct Row {
    std::string name;
    std::string json;
    std::string error;
  };
  const auto call = [](const std::string& fields) {
    return absl::StrCat(R"({"calls": [{"grpc": {"method": "/a.B/C"}, )", fields,
                        "}]}");
  };
  const auto grpc = [](const std::string& fields) {
    return absl::StrCat(R"({"calls": [{"grpc": {)", fields, "}}]}");
  };
  const auto answer = [](const std::string& fields) {
    return absl::StrCat("{\"calls\": [", kCall, "], \"server\": [{", fields,
                        "}]}");
  };
  const std::vector<Row> rows = {
      {"no JSON", "{", "line 1"},
      {"no object", "[]", "must be an object"},
      {"no calls", "{}", "calls: is missing"},
      {"empty calls", R"({"calls": []})", "calls: must have at least one call"},
      {"unknown key", call(R"("retries": 3)"), "calls[0].retries: "},
      {"neither transport", R"({"calls": [{}]})", "calls[0]: must have"},
      {"method without a slash", grpc(R"("method": "a.B/C")"),
       "calls[0].grpc.method: "},
      {"method of one part", grpc(R"("method": "/a.B")"),
       "calls[0].grpc.method: "},
      {"method with a space", grpc(R"("method": "/a.B/C D")"),
       "calls[0].grpc.method: "},
      {"stream", grpc(R"("method": "/redial.v1.Echo/Bidi")"),
       "calls[0].grpc.method: is a stream"},
      {"API", grpc(R"("method": "/a.B/C", "api": "ASYNC")"),
       "calls[0].grpc.api: "},
      {"negative duration", call(R"("timeout": "-1s")"), "calls[0].timeout: "},
      {"duration as number", call(R"("cancelAfter": 1)"),
       "calls[0].cancelAfter: "},
      {"metadata in upper case", call(R"("metadata": {"X-Team": "a"})"),
       "calls[0].metadata[\"X-Team\"]: "},
      {"metadata with a line break", call(R"("metadata": {"x": ["a\nb"]})"),
       "calls[0].metadata.x[0]: "},
      {"metadata of gRPC's", call(R"("metadata": {"grpc-timeout": "1S"})"),
       "calls[0].metadata[\"grpc-timeout\"]: "},
      {"no base64", call(R"("metadata": {"x-bin": "*"})"),
       "calls[0].metadata[\"x-bin\"]: is not base64"},
      {"more metadata than gRPC receives",
       call(absl::StrCat(R"("metadata": {"a": [")", std::string(4000, 'a'),
                         R"(", ")", std::string(4000, 'a'), "\"]}")),
       "calls[0]: method, metadata and key take 8"},
      {"a method longer than gRPC receives",
       grpc(absl::StrCat(R"("method": "/a.B/)", std::string(8000, 'C'), "\"")),
       "calls[0]: method, metadata and key take 8"},
      {"repeat 0", call(R"("repeat": 0)"), "calls[0].repeat: "},
      {"repeat 1.5", call(R"("repeat": 1.5)"), "calls[0].repeat: "},
      {"repeat above the limit", call(R"("repeat": 100001)"),
       "calls[0].repeat: "},
      {"concurrency above the limit", call(R"("concurrency": 257)"),
       "calls[0].concurrency: "},
      {"too many calls in all",
       R"({"calls": [{"grpc": {"method": "/a.B/C"}, "repeat": 60000},
                     {"grpc": {"method": "/a.B/C"}, "repeat": 60000}]})",
       "calls: makes 120000 calls"},
      {"maxAttempts 0", call(R"("options": {"maxAttempts": 0})"),
       "calls[0].options.maxAttempts: "},
      {"status", answer(R"("status": "BUSY")"), "server[0].status: "},
      {"hang and drop", answer(R"("hang": true, "drop": true)"), "server[0]: "},
      {"HTTP status", answer(R"("httpStatus": 99)"), "server[0].httpStatus: "},
      {"trailer", answer(R"("trailers": {":status": "1"})"),
       "server[0].trailers[\":status\"]: "},
      {"details twice", answer(R"("status": "UNAVAILABLE", "retryInfo": "1s",
                 "trailers": {"grpc-status-details-bin": ""})"),
       "server[0]: has \"retryInfo\" and a trailer"},
      {"longer message than gRPC receives",
       answer(absl::StrCat(R"("message": ")", std::string(8000, 'm'), "\"")),
       "server[0]: trailers and message take 8"},
      {"message that grows on the way",
       answer(absl::StrCat(R"("message": ")", std::string(3000, '%'), "\"")),
       "server[0]: trailers and message take 9"},
      {"longer headers than gRPC receives",
       answer(absl::StrCat(R"("initialMetadata": {"a-bin": ")",
                           std::string(8000, 'A'), "\"}")),
       "server[0]: initialMetadata take 8"},
      {"service config file with a NUL",
       absl::StrCat("{\"calls\": [", kCall,
                    R"(], "serviceConfigFile": "x\u0000\u001b"})"),
       "serviceConfigFile: x\\000\\033: a file name may hold no NUL"},
      {"stop reason",
       absl::StrCat("{\"calls\": [", kCall,
                    R"(], "expect": {"calls": [{"stopReason": "WHY"}]}})"),
       "expect.calls[0].stopReason: "},
      {"range",
       absl::StrCat("{\"calls\": [", kCall,
                    R"(], "expect": {"calls": [{"elapsed":
                        {"atLeast": "2s", "atMost": "1s"}}]}})"),
       "expect.calls[0].elapsed: "},
      {"the service config's own",
       absl::StrCat("{\"calls\": [", kCall,
                    R"(], "serviceConfig": {"methodConfig": [{"name": [{}],
                        "timeout": 5}]}})"),
       "serviceConfig.methodConfig[0].timeout: "},
      {"two service configs",
       absl::StrCat("{\"calls\": [", kCall,
                    R"(], "serviceConfig": {}, "serviceConfigFile": "x"})"),
       "serviceConfigFile: "},
      {"service config file that is not there",
       absl::StrCat("{\"calls\": [", kCall,
                    R"(], "serviceConfigFile": "/nowhere/x.json"})"),
       "serviceConfigFile: "},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const std::vector<std::string> errors = ErrorsOf(row.json);
    EXPECT_THAT(errors, ElementsAre(HasSubstr(row.error)));
    EXPECT_FALSE(ReadScenario(row.json, "").scenario.has_value());
  }
}

TEST(ScenarioReaderTest, TellsAllErrorsAtOnceInTheirOrder) {
  EXPECT_THAT(ErrorsOf(R"({"name": 5,
      "calls": [{"grpc": {"method": "x"}, "repeat": 0}],
      "server": [{"status": 7}]})"),
              ElementsAre(HasSubstr("name: "), HasSubstr("method: "),
                          HasSubstr("repeat: "), HasSubstr("status: ")));
}

TEST(ScenarioReaderTest, FindsTheServiceConfigBesideTheScenario) {
  const std::string folder = std::getenv("TEST_TMPDIR");
  std::ofstream(folder + "/policy.json")
      << R"({"methodConfig": [{"name": [{}], "timeout": "4s"}]})";
  std::ofstream(folder + "/scenario.json")
      << "{\"serviceConfigFile\": \"policy.json\", \"calls\": [" << kCall
      << "]}";
  const ScenarioFile file = ReadScenarioFile(folder + "/scenario.json");
  ASSERT_THAT(file.errors, IsEmpty());
  EXPECT_EQ((*file.scenario->policy->Find("/a.B/C"))->timeout,
            absl::Seconds(4));

  std::ofstream(folder + "/policy.json") << R"({"methodConfig": 4})";
  EXPECT_THAT(ReadScenarioFile(folder + "/scenario.json").errors,
              Contains(Field(&ConfigProblem::path,
                             "serviceConfigFile(policy.json).methodConfig")));
}

}  // namespace
}  // namespace redial
