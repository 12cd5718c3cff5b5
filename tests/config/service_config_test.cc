#include "redial/config/service_config.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/config/json_document.h"
#include "redial/core/policy_table.h"
#include "tests/config/config_documents.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string WriteFile(absl::string_view name, absl::string_view text) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

struct CoreCase {
  const char* name;
  const char* config;
  const char* core;
};

TEST(CoreConfigTest, IsTheDocumentWithoutWhatIsOurs) {
  const CoreCase cases[] = {
      {"nothing", "{}", ""},
      {"ours alone",
       R"({"redial":{},"retryThrottling":{"maxTokens":1,"tokenRatio":1}})", ""},
      {"core's alone", R"({ "loadBalancingPolicy" : "round_robin" })",
       R"({"loadBalancingPolicy":"round_robin"})"},
      {"both",
       R"({"methodConfig":[{"name":[{"service":"S"}],"timeout":"1s",
           "waitForReady":true,"redial":{"retry":{}}}],
           "loadBalancingConfig":[{"x":{"redial":1,"n":1.50,"z":null}}]})",
       R"({"methodConfig":[{"name":[{"service":"S"}],"waitForReady":true}],)"
       R"("loadBalancingConfig":[{"x":{"redial":1,"n":1.50,"z":null}}]})"},
      {"a name is kept, since it hides a general entry",
       R"({"methodConfig":[{"name":[{}],"waitForReady":true},
           {"name":[{"service":"S"}],"hedgingPolicy":{"maxAttempts":2}}]})",
       R"({"methodConfig":[{"name":[{}],"waitForReady":true},)"
       R"({"name":[{"service":"S"}]}]})"},
      {"null is absent",
       R"({"loadBalancingPolicy":null,"methodConfig":[{"name":[
           {"service":null}],"waitForReady":null,"maxRequestMessageBytes":1}]})",
       R"({"methodConfig":[{"name":[{}],"maxRequestMessageBytes":1}]})"},
      {"sizes are digits",
       R"({"methodConfig":[{"name":[{}],"maxRequestMessageBytes":1e3,
           "maxResponseMessageBytes":"1.0"}]})",
       R"({"methodConfig":[{"name":[{}],"maxRequestMessageBytes":1000,)"
       R"("maxResponseMessageBytes":1}]})"},
  };
  for (const CoreCase& c : cases) {
    const auto table = ServiceConfig::FromJson(c.config);
    ASSERT_TRUE(table.ok()) << c.name << "\n" << table.status();
    EXPECT_EQ((*table)->core_config(), c.core) << c.name;
  }
}

TEST(ServiceConfigTest, ReadsAFile) {
  const std::string path =
      WriteFile("good.json", DefaultEntry(RetryPolicyWith()));
  const auto table = ServiceConfig::FromJsonFile(path);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_NE((*table)->Find("/a.B/C"), nullptr);
}

TEST(ServiceConfigTest, SaysWhichFileIsWrong) {
  const std::string path =
      WriteFile("bad.json", DefaultEntry(R"("timeout":5)"));
  EXPECT_THAT(
      std::string(ServiceConfig::FromJsonFile(path).status().message()),
      AllOf(StartsWith(absl::StrCat(path, ": methodConfig[0].timeout: is 5"))));
}

TEST(ServiceConfigTest, SaysWhyAFileCannotBeRead) {
  const std::string missing = absl::StrCat(::testing::TempDir(), "/missing");
  const absl::Status status = ServiceConfig::FromJsonFile(missing).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(missing));
  EXPECT_FALSE(ServiceConfig::FromJsonFile(::testing::TempDir()).ok());
}

TEST(ServiceConfigTest, ReloadKeepsTheOldPolicyOnAnError) {
  LivePolicy live(*ServiceConfig::FromJson(DefaultEntry(RetryPolicyWith())));
  const auto before = live.Load();
  const uint64_t version = live.version();

  const std::string path =
      WriteFile("reload.json", DefaultEntry(R"("timeout":5)"));
  EXPECT_EQ(ServiceConfig::ReloadJsonFile(path, &live).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ServiceConfig::ReloadJsonFile(path + ".no", &live).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(live.Load(), before);
  EXPECT_EQ(live.version(), version);

  WriteFile("reload.json", DefaultEntry(R"("timeout":"5s")"));
  EXPECT_TRUE(ServiceConfig::ReloadJsonFile(path, &live).ok());
  EXPECT_NE(live.Load(), before);
  EXPECT_GT(live.version(), version);
}

TEST(ServiceConfigTest, OneWrongFieldMakesThePolicyNull) {
  const ServiceConfigResult result = ServiceConfig::Read(
      R"({"methodConfig":[{"name":[{}],"timeout":"1s"}],
          "retryThrottling":{"maxTokens":0,"tokenRatio":1}})");
  EXPECT_EQ(result.policy, nullptr);
  EXPECT_EQ(result.errors.size(), 1u);
}

TEST(ServiceConfigTest, BoundsWhatItReads) {
  const std::string open(size_t{100} << 20, '{');
  const ServiceConfigResult large = ServiceConfig::Read(open);
  EXPECT_THAT(large.ToStatus().ToString(), HasSubstr("at most 4194304"));

  std::string deep;
  constexpr int kDepth = 100000;
  for (int i = 0; i < kDepth; ++i) absl::StrAppend(&deep, "{\"a\":");
  EXPECT_THAT(ServiceConfig::Read(deep).ToStatus().ToString(),
              HasSubstr("more than 32 objects"));

  const std::string path =
      WriteFile("large.json", std::string(kMaxJsonSize + 1, ' '));
  EXPECT_EQ(ServiceConfig::FromJsonFile(path).status().code(),
            absl::StatusCode::kResourceExhausted);
  std::remove(path.c_str());
}

TEST(ServiceConfigTest, AFileNameIsNeitherCutNorShownRaw) {
  const std::string path = WriteFile("cut.json", "{}");
  const std::string with_nul = path + std::string("\0\033[2J", 5);
  const absl::Status status = ServiceConfig::FromJsonFile(with_nul).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("cut.json\\000\\033[2J: "));
  std::remove(path.c_str());
}

TEST(ServiceConfigTest, ManyErrorsStayReadable) {
  std::string json = "{\"methodConfig\":[0";
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&json, ",", i);
  absl::StrAppend(&json, "]}");
  const ServiceConfigResult result = ServiceConfig::Read(json);
  EXPECT_EQ(result.errors.size(), ProblemList::kMaxProblems + 1);
  EXPECT_EQ(result.errors[1].path, "methodConfig[1]");
  EXPECT_EQ(result.errors.back().ToString(), "and 4001 more");
}

}  // namespace
}  // namespace redial
