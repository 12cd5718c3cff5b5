#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/config/service_config.h"
#include "redial/core/policy.h"
#include "tests/config/config_documents.h"

namespace redial {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Entry(absl::string_view names, absl::string_view attempts) {
  return absl::StrCat("{\"name\":", names, ",",
                      RetryPolicyWith("maxAttempts", attempts), "}");
}

TEST(MethodNameTest, TheMostSpecificEntryWinsInAnyOrder) {
  const std::string by_default = Entry("[{}]", "2");
  const std::string by_service = Entry(R"([{"service":"a.B"}])", "3");
  const std::string by_method =
      Entry(R"([{"service":"a.B","method":"C"}])", "4");
  const std::vector<std::vector<std::string>> orders = {
      {by_default, by_service, by_method},
      {by_method, by_default, by_service},
      {by_service, by_method, by_default},
  };
  for (const auto& order : orders) {
    const std::string json = absl::StrCat("{\"methodConfig\":[", order[0], ",",
                                          order[1], ",", order[2], "]}");
    EXPECT_EQ(PolicyIn(json, "/a.B/C")->retry->max_attempts, 4);
    EXPECT_EQ(PolicyIn(json, "/a.B/D")->retry->max_attempts, 3);
    EXPECT_EQ(PolicyIn(json, "/x.Y/C")->retry->max_attempts, 2);
  }
}

TEST(MethodNameTest, AnEntryWithoutRetryHidesAGeneralOne) {
  const std::string json =
      absl::StrCat(R"({"methodConfig":[)", Entry("[{}]", "2"),
                   R"(,{"name":[{"service":"a.B"}],"waitForReady":true}]})");
  EXPECT_EQ(PolicyIn(json, "/a.B/C"), nullptr);
  EXPECT_NE(PolicyIn(json, "/a.X/C"), nullptr);
}

TEST(MethodNameTest, EntriesAreNotMerged) {
  const std::string json =
      absl::StrCat(R"({"methodConfig":[)", Entry("[{}]", "2"),
                   R"(,{"name":[{"service":"a.B"}],"timeout":"3s"}]})");
  const auto policy = PolicyIn(json, "/a.B/C");
  ASSERT_NE(policy, nullptr);
  EXPECT_FALSE(policy->retry);
  EXPECT_EQ(policy->timeout, absl::Seconds(3));
}

struct NameCase {
  const char* name;
  const char* entries;
  std::vector<std::string> error_paths;
};

TEST(MethodNameTest, FollowsTheRulesOfGrpc) {
  const std::vector<std::string> second = {"methodConfig[1].name[0]"};
  const NameCase cases[] = {
      {"no name", R"({})", {}},
      {"null", R"({"name":null})", {}},
      {"empty", R"({"name":[]})", {}},
      {"several",
       R"({"name":[{},{"service":"S"},{"service":"S","method":"M"}]})",
       {}},
      {"service twice",
       R"({"name":[{"service":"S"}]},{"name":[{"service":"S"}]})", second},
      {"method null is none",
       R"({"name":[{"service":"S"}]},{"name":[{"service":"S","method":null}]})",
       second},
      {"method empty is none",
       R"({"name":[{"service":"S"}]},{"name":[{"service":"S","method":""}]})",
       second},
      {"method twice",
       R"({"name":[{"service":"S","method":"M"},{"service":"S","method":"M"}]})",
       {"methodConfig[0].name[1]"}},
      {"two defaults", R"({"name":[{}]},{"name":[{}]})", second},
      {"default, service null", R"({"name":[{}]},{"name":[{"service":null}]})",
       second},
      {"service null, service empty",
       R"({"name":[{"service":null}]},{"name":[{"service":""}]})", second},
      {"method without service",
       R"({"name":[{"method":"M"}]})",
       {"methodConfig[0].name[0]"}},
      {"method with service null",
       R"({"name":[{"service":null,"method":"M"}]})",
       {"methodConfig[0].name[0]"}},
      {"method with service empty",
       R"({"name":[{"service":"","method":"M"}]})",
       {}},
      {"service 5",
       R"({"name":[{"service":5}]})",
       {"methodConfig[0].name[0].service"}},
      {"method 5",
       R"({"name":[{"service":"S","method":5}]})",
       {"methodConfig[0].name[0].method"}},
      {"a string for a name", R"({"name":["S"]})", {"methodConfig[0].name[0]"}},
      {"an object for the list", R"({"name":{}})", {"methodConfig[0].name"}},
      {"a string for an entry", R"("S")", {"methodConfig[0]"}},
      {"an invalid entry without name",
       R"({"timeout":1})",
       {"methodConfig[0].timeout"}},
  };
  for (const NameCase& c : cases) {
    const ServiceConfigResult result = ServiceConfig::Read(
        absl::StrCat("{\"methodConfig\":[", c.entries, "]}"));
    EXPECT_EQ(Paths(result.errors), c.error_paths) << c.name;
  }
}

TEST(MethodNameTest, ADuplicateNamesTheFirst) {
  const ServiceConfigResult result = ServiceConfig::Read(
      R"({"methodConfig":[{"name":[{"service":"x.Y"},{"service":"a.B"}]},
                          {"name":[{"service":"a.B"}]}]})");
  EXPECT_THAT(Lines(result.errors),
              ElementsAre("methodConfig[1].name[0]: names service a.B, as "
                          "methodConfig[0].name[1] does; one of the two must "
                          "go"));
}

TEST(MethodNameTest, WarnsOfNamesThatMatchNothing) {
  const absl::string_view json =
      R"({"methodConfig":[{"timeout":"1s"},{"name":[],"timeout":"1s"},
          {"name":[{"service":"/a.B"}],"timeout":"1s"},
          {"name":[{"service":"a.B "}],"timeout":"1s"},
          {"name":[{"service":"","method":"M"}],"timeout":"1s"}]})";
  const ServiceConfigResult result = ServiceConfig::Read(json);
  EXPECT_THAT(Paths(result.warnings),
              ElementsAre("methodConfig[0]", "methodConfig[1].name",
                          "methodConfig[2].name[0].service",
                          "methodConfig[3].name[0].service",
                          "methodConfig[4].name[0].method"));
  EXPECT_NE(PolicyIn(json, "/any/M"), nullptr) << "an empty service: default";
}

TEST(MethodNameTest, SaysWhenNothingApplies) {
  const absl::string_view bare =
      R"({"maxAttempts":3,"initialBackoff":"1s","maxBackoff":"1s",
          "backoffMultiplier":2,"retryableStatusCodes":["UNAVAILABLE"]})";
  for (absl::string_view json :
       {bare, absl::string_view("{}"),
        absl::string_view("{\"methodConfig\":[]}"),
        absl::string_view(R"({"retryPolicy":{"maxAttempts":3}})")}) {
    const ServiceConfigResult result = ServiceConfig::Read(json);
    EXPECT_THAT(Lines(result.errors), IsEmpty()) << json;
    EXPECT_THAT(Lines(result.warnings),
                Contains(HasSubstr("nothing in this config applies")))
        << json;
  }
  EXPECT_THAT(
      Lines(ServiceConfig::Read(DefaultEntry(RetryPolicyWith())).warnings),
      IsEmpty());
}

TEST(CoreKeysTest, TypesAreChecked) {
  struct Case {
    std::string json;
    std::vector<std::string> error_paths;
  };
  const auto method = [](absl::string_view key) {
    return std::vector<std::string>{absl::StrCat("methodConfig[0].", key)};
  };
  const Case cases[] = {
      {DefaultEntry(R"("waitForReady":true)"), {}},
      {DefaultEntry(R"("waitForReady":null)"), {}},
      {DefaultEntry(R"("waitForReady":"true")"), method("waitForReady")},
      {DefaultEntry(R"("timeout":"5s")"), {}},
      {DefaultEntry(R"("timeout":"5sec")"), method("timeout")},
      {DefaultEntry(R"("maxRequestMessageBytes":1024)"), {}},
      {DefaultEntry(R"("maxRequestMessageBytes":"1024")"), {}},
      {DefaultEntry(R"("maxRequestMessageBytes":-1024)"),
       method("maxRequestMessageBytes")},
      {DefaultEntry(R"("maxResponseMessageBytes":{})"),
       method("maxResponseMessageBytes")},
      {R"({"loadBalancingPolicy":"ROUND_ROBIN"})", {}},
      {R"({"loadBalancingPolicy":5})", {"loadBalancingPolicy"}},
      {R"({"loadBalancingConfig":[{"a":{}},{"b":{}}]})", {}},
      {R"({"loadBalancingConfig":{}})", {"loadBalancingConfig"}},
      {R"({"loadBalancingConfig":[]})", {"loadBalancingConfig"}},
      {R"({"loadBalancingConfig":[5]})", {"loadBalancingConfig[0]"}},
      {R"({"loadBalancingConfig":[{"a":{},"b":{}}]})",
       {"loadBalancingConfig[0]"}},
      {R"({"loadBalancingConfig":[{"a":5}]})", {"loadBalancingConfig[0].a"}},
      {R"({"healthCheckConfig":{"serviceName":"s"}})", {}},
      {R"({"healthCheckConfig":5})", {"healthCheckConfig"}},
      {R"({"healthCheckConfig":{"serviceName":5}})",
       {"healthCheckConfig.serviceName"}},
      {R"({"methodConfig":{}})", {"methodConfig"}},
      {R"({"methodConfig":null})", {}},
      {"[]", {""}},
      {"5", {""}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Paths(ServiceConfig::Read(c.json).errors), c.error_paths)
        << c.json;
  }
}

TEST(CoreKeysTest, UnknownOnesAreWarnings) {
  const ServiceConfigResult result = ServiceConfig::Read(
      R"({"methodConfig":[{"name":[{"servce":"S"}],"timeOut":"1s",
          "retryPolicy":{"maxAttempts":2,"initialBackoff":"1s","maxBackoff":"1s",
          "backoffMultiplier":2,"retryableStatusCodes":[14],"x":1}}],
          "methodConfigs":1})");
  EXPECT_THAT(Lines(result.errors), IsEmpty());
  EXPECT_THAT(
      Lines(result.warnings),
      ElementsAre(HasSubstr("name[0].servce: is no known key and is ignored; "
                            "did you mean \"service\"?"),
                  HasSubstr("timeOut: is no known key and is ignored; did you "
                            "mean \"timeout\"?"),
                  HasSubstr("retryPolicy.x: is no known key and is ignored"),
                  HasSubstr("did you mean \"methodConfig\"?")));
}

}  // namespace
}  // namespace redial
