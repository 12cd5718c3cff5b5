// Our verdict on a document beside that of gRPC's own validator.
//
// The documents are our own and, where the environment variable
// REDIAL_SHARED_CASES names a folder of cases, the public service configs in
// its service-configs/. Where the two differ, a table says why.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "grpcpp/support/validate_service_config.h"
#include "gtest/gtest.h"
#include "redial/config/service_config.h"
#include "tests/config/config_documents.h"

namespace redial {
namespace {

bool GrpcAccepts(const std::string& json) {
  return grpc::experimental::ValidateServiceConfigJSON(json).empty();
}

bool WeAccept(const std::string& json) {
  return ServiceConfig::FromJson(json).ok();
}

// What is valid for us leaves something that is valid for core.
void ExpectCoreTakesTheRest(const std::string& json) {
  const auto table = ServiceConfig::FromJson(json);
  if (!table.ok() || (*table)->core_config().empty()) return;
  EXPECT_EQ(
      grpc::experimental::ValidateServiceConfigJSON((*table)->core_config()),
      "")
      << json << "\n"
      << (*table)->core_config();
}

std::string Policy(absl::string_view field,
                   absl::optional<absl::string_view> value = absl::nullopt) {
  return DefaultEntry(RetryPolicyWith(field, value));
}

std::string Throttling(absl::string_view tokens, absl::string_view ratio) {
  return absl::StrCat(R"({"retryThrottling":{"maxTokens":)", tokens,
                      R"(,"tokenRatio":)", ratio, "}}");
}

TEST(DifferentialTest, AgreesWithGrpc) {
  const std::string documents[] = {
      "",
      "{}",
      "[]",
      "5",
      "{",
      R"({"a":1,})",
      R"({"a":1,"a":2})",
      R"({"a":01})",
      R"({'a':1})",
      R"({a:1})",
      R"({"unknown":1})",
      Policy(""),
      Policy("maxAttempts"),
      Policy("maxAttempts", "2"),
      Policy("maxAttempts", "1"),
      Policy("maxAttempts", "0"),
      Policy("maxAttempts", "-1"),
      Policy("maxAttempts", "10"),
      Policy("maxAttempts", R"("3")"),
      Policy("maxAttempts", R"("FOO")"),
      Policy("maxAttempts", "2.5"),
      Policy("maxAttempts", "[]"),
      Policy("maxAttempts", "null"),
      Policy("initialBackoff"),
      Policy("initialBackoff", R"("1sec")"),
      Policy("initialBackoff", R"("0s")"),
      Policy("initialBackoff", R"("0.0000000001s")"),
      Policy("initialBackoff", R"(".01s")"),
      Policy("initialBackoff", R"("foos")"),
      Policy("initialBackoff", R"("3.xs")"),
      Policy("initialBackoff", R"("1e3s")"),
      Policy("initialBackoff", R"("-1s")"),
      Policy("initialBackoff", R"("100ms")"),
      Policy("initialBackoff", R"("1,5s")"),
      Policy("initialBackoff", "1"),
      Policy("maxBackoff", R"("315576000000s")"),
      Policy("maxBackoff", R"("315576000001s")"),
      Policy("maxBackoff"),
      Policy("backoffMultiplier"),
      Policy("backoffMultiplier", "0"),
      Policy("backoffMultiplier", "-1"),
      Policy("backoffMultiplier", R"("1.6")"),
      Policy("backoffMultiplier", "1e1"),
      Policy("backoffMultiplier", "[]"),
      Policy("retryableStatusCodes"),
      Policy("retryableStatusCodes", "[]"),
      Policy("retryableStatusCodes", "0"),
      Policy("retryableStatusCodes", R"(["FOO","BAR"])"),
      Policy("retryableStatusCodes", R"([true])"),
      Policy("retryableStatusCodes", R"(["UNAVAILABLE","DATA_LOSS"])"),
      Policy("unknown", "5"),
      Policy("perAttemptRecvTimeout", R"("1s")"),
      DefaultEntry(R"("retryPolicy":5)"),
      DefaultEntry(R"("retryPolicy":{})"),
      DefaultEntry(R"("retryPolicy":null)"),
      DefaultEntry(R"("hedgingPolicy":{"maxAttempts":2})"),
      DefaultEntry(R"("timeout":"5s")"),
      DefaultEntry(R"("timeout":"5sec")"),
      DefaultEntry(R"("timeout":"0s")"),
      DefaultEntry(R"("waitForReady":true)"),
      DefaultEntry(R"("waitForReady":"true")"),
      DefaultEntry(R"("waitForReady":null)"),
      DefaultEntry(R"("maxRequestMessageBytes":1024)"),
      DefaultEntry(R"("maxRequestMessageBytes":"1024")"),
      DefaultEntry(R"("maxRequestMessageBytes":-1024)"),
      DefaultEntry(R"("maxResponseMessageBytes":{})"),
      DefaultEntry(R"("redial":{"retry":{},"explainInMessage":true})"),
      Throttling("2", "1.0"),
      Throttling("1000", "0.001"),
      Throttling("10", "0.6789"),
      Throttling("10", R"("1.0")"),
      Throttling("10", "1"),
      Throttling("0", "1.0"),
      Throttling("-2", "1.0"),
      Throttling("10", "0"),
      Throttling("10", "-1"),
      Throttling("10", "0.0004"),
      R"({"retryThrottling":{}})",
      R"({"retryThrottling":5})",
      R"({"retryThrottling":null})",
      R"({"methodConfig":[{"waitForReady":true}]})",
      R"({"methodConfig":[{"name":[],"timeout":"1s"}]})",
      R"({"methodConfig":[{"name":[],"timeout":"1"}]})",
      R"({"methodConfig":[{"name":[{"service":"S"}]},{"name":[{"service":"S"}]}]})",
      R"({"methodConfig":[{"name":[{"service":"S"}]},)"
      R"({"name":[{"service":"S","method":null}]}]})",
      R"({"methodConfig":[{"name":[{"service":"S"}]},)"
      R"({"name":[{"service":"S","method":""}]}]})",
      R"({"methodConfig":[{"name":[{"service":"S"}]},)"
      R"({"name":[{"service":"S","method":"M"}]}]})",
      R"({"methodConfig":[{"name":[{}]},{"name":[{}]}]})",
      R"({"methodConfig":[{"name":[{}]},{"name":[{"service":null}]}]})",
      R"({"methodConfig":[{"name":[{"service":""}]},{"name":[{"service":null}]}]})",
      R"({"methodConfig":[{"name":[{"method":"M"}]}]})",
      R"({"methodConfig":[{"name":[{"service":null,"method":"M"}]}]})",
      R"({"methodConfig":[{"name":[{"service":"","method":"M"}]}]})",
      R"({"methodConfig":[{"name":[{"service":5}]}]})",
      R"({"methodConfig":[{"name":[5]}]})",
      R"({"methodConfig":[{"name":{}}]})",
      R"({"methodConfig":[5]})",
      R"({"methodConfig":{}})",
      R"({"loadBalancingPolicy":"PICK_FIRST"})",
      R"({"loadBalancingPolicy":5})",
      R"({"loadBalancingConfig":[{"unknown":{}},{"round_robin":{}}]})",
      R"({"loadBalancingConfig":[{"round_robin":{},"x":{}}]})",
      R"({"loadBalancingConfig":[{"round_robin":5}]})",
      R"({"loadBalancingConfig":[]})",
      R"({"loadBalancingConfig":{}})",
      R"({"healthCheckConfig":{"serviceName":"s"}})",
      R"({"healthCheckConfig":{"serviceName":5}})",
      R"({"healthCheckConfig":5})",
      R"({"healthCheckConfig":{},"healthCheckConfig":{}})",
  };
  int accepted = 0;
  for (const std::string& json : documents) {
    EXPECT_EQ(WeAccept(json), GrpcAccepts(json))
        << json << "\nredial: " << ServiceConfig::FromJson(json).status()
        << "\ngRPC: " << grpc::experimental::ValidateServiceConfigJSON(json);
    ExpectCoreTakesTheRest(json);
    accepted += WeAccept(json);
  }
  EXPECT_GT(accepted, 30);
}

struct Difference {
  const char* why;
  bool we_accept;
  std::string json;
};

TEST(DifferentialTest, DiffersWhereA6OrOurOwnRulesSay) {
  const std::string two_policies = DefaultEntry(
      absl::StrCat(RetryPolicyWith(), R"(,"hedgingPolicy":{"maxAttempts":2})"));
  std::string deep;
  for (int i = 0; i < 40; ++i) absl::StrAppend(&deep, "{\"a\":");
  absl::StrAppend(&deep, "1", std::string(40, '}'));
  const Difference differences[] = {
      {"A6, Integration with Service Config: names without regard to case",
       true, Policy("retryableStatusCodes", R"(["aborted"])")},
      {"A6, Integration with Service Config: codes may be integers", true,
       Policy("retryableStatusCodes", "[10]")},
      {"A6: retryableStatusCodes are failures; OK is never retried", false,
       Policy("retryableStatusCodes", R"(["OK","ABORTED"])")},
      {"A6, Throttling Retry Attempts: maxTokens in (0, 1000]", false,
       Throttling("1001", "1.0")},
      {"A6: a JSON number; .1 and 1e-1 are the same", true,
       Throttling("10", "1e-1")},
      {"A6: a JSON integer; 10.0 is one", true, Throttling("10.0", "1.0")},
      {"A6: a JSON integer; 3.0 is one", true, Policy("maxAttempts", "3.0")},
      {"A6: at most one of retryPolicy and hedgingPolicy", false, two_policies},
      {"A6: hedgingPolicy has rules, which core does not know", false,
       DefaultEntry(R"("hedgingPolicy":{"maxAttempts":1})")},
      {"perAttemptRecvTimeout is honoured here, ignored by core unless hedging "
       "is switched on",
       false, Policy("perAttemptRecvTimeout", "5")},
      {"null is absent, for every field", true, R"({"methodConfig":null})"},
      {"null is absent, for every field", true,
       R"({"methodConfig":[{"name":null}]})"},
      {"null is absent, for every field", true,
       R"({"loadBalancingPolicy":null})"},
      {"which policies there are is core's business", true,
       R"({"loadBalancingPolicy":"unknown"})"},
      {"unknown keys under \"redial\" are errors", false,
       R"({"redial":{"backof":{}}})"},
      {"core counts in milliseconds, and less than one is zero to it", true,
       Policy("initialBackoff", R"("0.000000001s")")},
      {"32 levels are enough", false, deep},
  };
  for (const Difference& difference : differences) {
    EXPECT_EQ(WeAccept(difference.json), difference.we_accept)
        << difference.why << "\n"
        << difference.json << "\n"
        << ServiceConfig::FromJson(difference.json).status();
    EXPECT_EQ(GrpcAccepts(difference.json), !difference.we_accept)
        << "no difference any more: " << difference.why << "\n"
        << difference.json;
  }
}

// A value that fits somewhere, often not here.
std::string AnyValue(std::mt19937& random) {
  static constexpr absl::string_view kValues[] = {
      "null",
      "true",
      "5",
      "-1",
      "1.5",
      "1e3",
      "0",
      "[]",
      "{}",
      R"("")",
      R"("1s")",
      R"("1024")",
      R"("2.0")",
      R"("S")",
      "[{}]",
      R"([{"service":null}])",
      R"([{"service":"S","method":null}])",
      R"([{"service":"S"},{"service":"T","x":1}])",
      R"([{"round_robin":{}}])",
      R"({"serviceName":"s"})",
      R"({"serviceName":null})",
      R"({"maxAttempts":2})",
      R"({"retry":{}})",
      R"({"maxTokens":10,"tokenRatio":0.5})"};
  return std::string(kValues[std::uniform_int_distribution<size_t>(
      0, std::size(kValues) - 1)(random)]);
}

std::string AnyObject(std::mt19937& random,
                      const std::vector<std::string>& keys,
                      const std::string& fixed) {
  std::string json = "{" + fixed;
  for (const std::string& key : keys) {
    constexpr int kOneIn = 4;
    if (std::uniform_int_distribution<int>(1, kOneIn)(random) != 1) continue;
    absl::StrAppend(&json, json.back() == '{' ? "" : ",", "\"", key,
                    "\":", AnyValue(random));
  }
  return json + "}";
}

TEST(DifferentialTest, WhatWeAcceptLeavesWhatCoreAccepts) {
  const auto seed = std::random_device()();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  const std::vector<std::string> in_method = {"timeout",
                                              "waitForReady",
                                              "maxRequestMessageBytes",
                                              "hedgingPolicy",
                                              "maxResponseMessageBytes",
                                              "redial",
                                              "retryPolicy",
                                              "unknown"};
  const std::vector<std::string> in_document = {"retryThrottling", "redial",
                                                "loadBalancingConfig",
                                                "healthCheckConfig", "unknown"};
  int accepted = 0;
  constexpr int kDocuments = 4000;
  for (int i = 0; i < kDocuments; ++i) {
    const std::string name =
        i % 2 == 0 ? R"("name":[{}])" : "\"name\":" + AnyValue(random);
    const std::string entry = AnyObject(random, in_method, name);
    const std::string json =
        AnyObject(random, in_document, "\"methodConfig\":[" + entry + "]");
    accepted += WeAccept(json);
    ExpectCoreTakesTheRest(json);
  }
  EXPECT_GT(accepted, kDocuments / 100);
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Names from index.tsv, whose first line is a heading.
std::vector<std::string> PublicFiles(const std::string& folder) {
  std::vector<std::string> names;
  const std::string index = ReadAll(absl::StrCat(folder, "/index.tsv"));
  for (absl::string_view line : absl::StrSplit(index, '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (absl::EndsWith(fields[0], ".json")) names.push_back(fields[0]);
  }
  return names;
}

TEST(DifferentialTest, AgreesOnPublicFiles) {
  const char* cases = std::getenv("REDIAL_SHARED_CASES");
  const std::string folder =
      absl::StrCat(cases == nullptr ? "" : cases, "/service-configs");
  std::vector<std::string> files;
  if (cases != nullptr) files = PublicFiles(folder);
  if (files.empty()) {
    std::cout << "REDIAL_SHARED_CASES names no folder with "
                 "service-configs/index.tsv: only our own document is checked "
                 "here\n";
  }
  std::vector<std::string> documents = {
      Policy("maxAttempts")};  // the kind that gapic reads and A6 does not
  for (const std::string& file : files) {
    documents.push_back(ReadAll(absl::StrCat(folder, "/", file)));
  }
  const ServiceConfigOptions gapic{ServiceConfigDialect::kGapic, ""};
  int refused = 0;
  for (size_t i = 0; i < documents.size(); ++i) {
    SCOPED_TRACE(i == 0 ? "own" : files[i - 1]);
    const std::string& json = documents[i];
    ASSERT_FALSE(json.empty());
    EXPECT_EQ(WeAccept(json), GrpcAccepts(json))
        << ServiceConfig::FromJson(json).status();
    ExpectCoreTakesTheRest(json);
    if (WeAccept(json)) continue;
    ++refused;
    // The other dialect takes all of them but those with a name twice.
    const ServiceConfigResult result = ServiceConfig::Read(json, gapic);
    for (const ConfigProblem& error : result.errors) {
      EXPECT_TRUE(absl::StrContains(error.message, "one of the two must go"))
          << error.ToString();
    }
  }
  EXPECT_GE(refused, 1);
}

}  // namespace
}  // namespace redial
