// gRFC A6: retryPolicy, hedgingPolicy and retryThrottling.

#include <clocale>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/config/config_problem.h"
#include "redial/config/service_config.h"
#include "redial/core/backoff.h"
#include "redial/core/classifier.h"
#include "redial/core/policy.h"
#include "tests/config/config_documents.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::string_view kPolicyPath = "methodConfig[0].retryPolicy";

TEST(RetryPolicyTest, ReadsA6) {
  const auto policy = PolicyIn(DefaultEntry(RetryPolicyWith()));
  ASSERT_NE(policy, nullptr);
  ASSERT_TRUE(policy->retry);
  EXPECT_EQ(policy->origin, "methodConfig[0]");
  EXPECT_EQ(policy->retry->max_attempts, 3);
  EXPECT_EQ(policy->retry->backoff.base, absl::Seconds(1));
  EXPECT_EQ(policy->retry->backoff.max, absl::Seconds(120));
  EXPECT_EQ(policy->retry->backoff.multiplier, 1.6);
  EXPECT_EQ(policy->retry->backoff.form, BackoffForm::kProportional);
  EXPECT_EQ(policy->retry->backoff.jitter, 0.2);
  EXPECT_EQ(policy->retry->classifier.retryable_codes,
            CodeSet({absl::StatusCode::kAborted}));
  EXPECT_EQ(policy->timeout, absl::InfiniteDuration());
}

struct FieldCase {
  const char* field;
  absl::optional<absl::string_view> value;  // none: left out
  const char* error;                        // null: valid
};

TEST(RetryPolicyTest, ChecksEachField) {
  const FieldCase cases[] = {
      {"maxAttempts", absl::nullopt, "is missing"},
      {"maxAttempts", "null", "is missing"},
      {"maxAttempts", "2", nullptr},
      {"maxAttempts", "3.0", nullptr},
      {"maxAttempts", R"("3")", nullptr},
      {"maxAttempts", "1", "is 1; must be an integer, at least 2"},
      {"maxAttempts", "0", "at least 2"},
      {"maxAttempts", "-3", "at least 2"},
      {"maxAttempts", "2.5", "an integer"},
      {"maxAttempts", R"("FOO")", "is \"FOO\"; must be an integer"},
      {"maxAttempts", R"("1")", "at least 2"},
      {"maxAttempts", R"(" 3")", "an integer"},
      {"maxAttempts", "[3]", "is an array; must be an integer"},
      {"maxAttempts", "true", "is true; must be an integer"},
      {"maxAttempts", "1e300", "from 2 to 2147483647"},
      {"initialBackoff", absl::nullopt, "is missing; must be a duration"},
      {"initialBackoff", R"("0.000000001s")", nullptr},
      {"initialBackoff", R"("0s")", "must be above 0, such as \"0.5s\""},
      {"initialBackoff", R"("1sec")", "must be a duration"},
      {"initialBackoff", "1", "is 1; must be a duration"},
      {"initialBackoff", R"("-1s")", "must be a duration"},
      {"initialBackoff", R"("315576000001s")", "must be a duration"},
      {"maxBackoff", absl::nullopt, "is missing"},
      {"maxBackoff", R"("315576000000s")", nullptr},
      {"maxBackoff", R"("120sec")", "must be a duration"},
      {"maxBackoff", R"("0s")", "must be above 0"},
      {"backoffMultiplier", absl::nullopt, "is missing"},
      {"backoffMultiplier", "0.5", nullptr},
      {"backoffMultiplier", "1", nullptr},
      {"backoffMultiplier", R"("1.6")", nullptr},
      {"backoffMultiplier", "0", "must be a number above 0"},
      {"backoffMultiplier", "-1", "must be a number above 0"},
      {"backoffMultiplier", "[]", "is an array; must be a number above 0"},
      {"backoffMultiplier", R"("NaN")", "must be a number above 0"},
      {"backoffMultiplier", R"("inf")", "must be a number above 0"},
      {"backoffMultiplier", R"("1e999")", "must be a number above 0"},
      {"backoffMultiplier", R"("0x2")", "must be a number above 0"},
      {"retryableStatusCodes", absl::nullopt, "is missing; must be an array"},
      {"retryableStatusCodes", R"(["aborted", "Unavailable"])", nullptr},
      {"retryableStatusCodes", "[14, 1]", nullptr},
      {"retryableStatusCodes", "[]", "is empty; must be an array"},
      {"retryableStatusCodes", "0", "is 0; must be an array"},
      {"retryableStatusCodes", R"("ABORTED")", "must be an array"},
      {"retryableStatusCodes", R"(["FOO"])", "the name of a status code"},
      {"retryableStatusCodes", R"(["14"])", "the name of a status code"},
      {"retryableStatusCodes", R"(["OK"])", "is OK, which is no failure"},
      {"retryableStatusCodes", "[0]", "is OK, which is no failure"},
      {"retryableStatusCodes", "[17]", "from 0 to 16"},
      {"retryableStatusCodes", "[1.5]", "must be an integer"},
      {"retryableStatusCodes", "[true]", "is true; must be the name"},
      {"retryableStatusCodes", "[null]", "is null; must be the name"},
      {"perAttemptRecvTimeout", R"("1s")", nullptr},
      {"perAttemptRecvTimeout", "1", "must be a duration"},
      {"perAttemptRecvTimeout", R"("1sec")", "must be a duration"},
      {"perAttemptRecvTimeout", R"("0s")", "must be above 0"},
  };
  for (const FieldCase& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.field, " ", c.value.value_or("left out")));
    const ServiceConfigResult result =
        ServiceConfig::Read(DefaultEntry(RetryPolicyWith(c.field, c.value)));
    if (c.error == nullptr) {
      EXPECT_THAT(Lines(result.errors), IsEmpty());
      EXPECT_NE(result.policy, nullptr);
      continue;
    }
    EXPECT_EQ(result.policy, nullptr);
    EXPECT_THAT(
        Lines(result.errors),
        ElementsAre(AllOf(HasSubstr(absl::StrCat(kPolicyPath, ".", c.field)),
                          HasSubstr(c.error))));
  }
}

// Some C libraries let the locale change what "1.6" means.
TEST(RetryPolicyTest, DoesNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, name);
    const auto policy =
        PolicyIn(DefaultEntry(RetryPolicyWith("initialBackoff", R"("1.5s")")));
    ASSERT_NE(policy, nullptr);
    EXPECT_EQ(policy->retry->backoff.base, absl::Milliseconds(1500));
    EXPECT_EQ(policy->retry->backoff.multiplier, 1.6);
    EXPECT_FALSE(ServiceConfig::FromJson(DefaultEntry(RetryPolicyWith(
                                             "initialBackoff", R"("1,5s")")))
                     .ok());
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(RetryPolicyTest, ReportsAllErrorsInOrder) {
  const ServiceConfigResult result = ServiceConfig::Read(R"({
      "methodConfig": [
        {"retryPolicy": {"retryableStatusCodes": ["ABORTED", true, "FOO"],
                         "maxAttempts": 1},
         "timeout": 5, "name": [{}, {}]},
        {"name": [{"service": "S"}], "retryPolicy": 5}],
      "retryThrottling": {}})");
  EXPECT_THAT(
      Paths(result.errors),
      ElementsAre("methodConfig[0].retryPolicy.initialBackoff",
                  "methodConfig[0].retryPolicy.maxBackoff",
                  "methodConfig[0].retryPolicy.backoffMultiplier",
                  "methodConfig[0].retryPolicy.retryableStatusCodes[1]",
                  "methodConfig[0].retryPolicy.retryableStatusCodes[2]",
                  "methodConfig[0].retryPolicy.maxAttempts",
                  "methodConfig[0].timeout", "methodConfig[0].name[1]",
                  "methodConfig[1].retryPolicy", "retryThrottling.maxTokens",
                  "retryThrottling.tokenRatio"));
  const std::string message(result.ToStatus().message());
  EXPECT_THAT(message, HasSubstr("11 errors: "));
  EXPECT_THAT(message, HasSubstr("methodConfig[0].timeout: is 5; must be"));
}

TEST(RetryPolicyTest, ClampsAtFiveUnlessToldOtherwise) {
  struct Case {
    const char* name;
    std::string redial;
    int want;
    int warnings;
  };
  const Case cases[] = {
      {"as A6 says", "", 5, 1},
      {"lifted", R"("redial":{"maxAttemptsLimit":100},)", 50, 0},
      {"another limit", R"("redial":{"maxAttemptsLimit":7},)", 7, 1},
      {"a lower limit", R"("redial":{"maxAttemptsLimit":2},)", 2, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string json = DefaultEntry(
        absl::StrCat(c.redial, RetryPolicyWith("maxAttempts", "50")));
    const ServiceConfigResult result = ServiceConfig::Read(json);
    EXPECT_EQ(PolicyIn(json)->retry->max_attempts, c.want);
    ASSERT_THAT(Lines(result.warnings), SizeIs(c.warnings));
    if (c.warnings > 0) {
      EXPECT_THAT(
          result.warnings[0].ToString(),
          HasSubstr(absl::StrCat(
              kPolicyPath, ".maxAttempts: is 50 and counts as ", c.want)));
    }
  }
  const std::string at_top = absl::StrCat(
      R"({"redial":{"maxAttemptsLimit":9},"methodConfig":[{"name":[{}],)",
      RetryPolicyWith("maxAttempts", "50"), "}]}");
  EXPECT_EQ(PolicyIn(at_top)->retry->max_attempts, 9);
}

TEST(RetryPolicyTest, PerAttemptRecvTimeoutLimitsEachAttempt) {
  const std::string policy =
      RetryPolicyWith("perAttemptRecvTimeout", R"("2s")");
  const auto method = PolicyIn(DefaultEntry(policy));
  EXPECT_EQ(method->attempt_timeout, absl::Seconds(2));
  // Core retries an attempt that ended so whatever the codes are.
  EXPECT_EQ(method->retry->attempt_timeout_retry, AttemptTimeoutRetry::kAlways);
  EXPECT_THAT(Lines(ServiceConfig::Read(DefaultEntry(policy)).warnings),
              IsEmpty());

  const ServiceConfigResult twice = ServiceConfig::Read(DefaultEntry(
      absl::StrCat(policy, R"(,"redial":{"attemptTimeout":"1s"})")));
  EXPECT_THAT(Paths(twice.errors),
              ElementsAre("methodConfig[0].redial.attemptTimeout"));
}

TEST(HedgingPolicyTest, IsCheckedAndSaidNotToHedge) {
  struct Case {
    const char* policy;
    std::vector<std::string> errors;
  };
  const Case cases[] = {
      {R"({"maxAttempts":2})", {}},
      {R"({"maxAttempts":4,"hedgingDelay":"0s","nonFatalStatusCodes":[]})", {}},
      {R"({"maxAttempts":4,"nonFatalStatusCodes":["unavailable",8]})", {}},
      {"{}", {"methodConfig[0].hedgingPolicy.maxAttempts"}},
      {R"({"maxAttempts":1})", {"methodConfig[0].hedgingPolicy.maxAttempts"}},
      {R"({"maxAttempts":2,"hedgingDelay":1})",
       {"methodConfig[0].hedgingPolicy.hedgingDelay"}},
      {R"({"maxAttempts":2,"nonFatalStatusCodes":["X"]})",
       {"methodConfig[0].hedgingPolicy.nonFatalStatusCodes[0]"}},
      {"5", {"methodConfig[0].hedgingPolicy"}},
  };
  for (const Case& c : cases) {
    const ServiceConfigResult result = ServiceConfig::Read(
        DefaultEntry(absl::StrCat("\"hedgingPolicy\":", c.policy)));
    EXPECT_EQ(Paths(result.errors), c.errors) << c.policy;
    if (c.errors.empty()) {
      EXPECT_THAT(result.warnings[1].ToString(),
                  AllOf(HasSubstr("methodConfig[0].hedgingPolicy"),
                        HasSubstr("sent once")));
    }
  }
}

TEST(HedgingPolicyTest, DoesNotGoWithARetryPolicy) {
  for (const std::string& other :
       {RetryPolicyWith(), std::string(R"("redial":{"retry":{}})")}) {
    const ServiceConfigResult result = ServiceConfig::Read(DefaultEntry(
        absl::StrCat(R"("hedgingPolicy":{"maxAttempts":2},)", other)));
    EXPECT_THAT(Lines(result.errors), ElementsAre(HasSubstr("of the two")))
        << other;
  }
}

TEST(RetryThrottlingTest, CountsInThousandths) {
  struct Case {
    const char* throttling;
    int64_t max_milli_tokens;
    int64_t milli_token_ratio;
    std::vector<std::string> errors;
  };
  const std::vector<std::string> tokens = {"retryThrottling.maxTokens"};
  const std::vector<std::string> ratio = {"retryThrottling.tokenRatio"};
  const Case cases[] = {
      {R"({"maxTokens":2,"tokenRatio":1.0})", 2000, 1000, {}},
      {R"({"maxTokens":1,"tokenRatio":1})", 1000, 1000, {}},
      {R"({"maxTokens":1000,"tokenRatio":0.001})", 1000000, 1, {}},
      {R"({"maxTokens":10,"tokenRatio":0.4667})", 10000, 466, {}},
      {R"({"maxTokens":10,"tokenRatio":0.5466})", 10000, 546, {}},
      {R"({"maxTokens":10,"tokenRatio":0.6789})", 10000, 678, {}},
      {R"({"maxTokens":10,"tokenRatio":0.007})", 10000, 7, {}},
      {R"({"maxTokens":10,"tokenRatio":1e-1})", 10000, 100, {}},
      {R"({"maxTokens":10,"tokenRatio":1e9})", 10000, 1000000000000, {}},
      {R"({"maxTokens":"10","tokenRatio":"1.0"})", 10000, 1000, {}},
      {"{}", 0, 0, {tokens[0], ratio[0]}},
      {"5", 0, 0, {"retryThrottling"}},
      {R"({"maxTokens":0,"tokenRatio":1})", 0, 0, tokens},
      {R"({"maxTokens":-2,"tokenRatio":1})", 0, 0, tokens},
      {R"({"maxTokens":1001,"tokenRatio":1})", 0, 0, tokens},
      {R"({"maxTokens":1.5,"tokenRatio":1})", 0, 0, tokens},
      {R"({"maxTokens":"x","tokenRatio":1})", 0, 0, tokens},
      {R"({"maxTokens":10,"tokenRatio":0})", 0, 0, ratio},
      {R"({"maxTokens":10,"tokenRatio":-1})", 0, 0, ratio},
      {R"({"maxTokens":10,"tokenRatio":0.0004})", 0, 0, ratio},
      {R"({"maxTokens":10,"tokenRatio":0.0009999})", 0, 0, ratio},
      {R"({"maxTokens":10,"tokenRatio":".5"})", 0, 0, ratio},
      {R"({"maxTokens":10,"tokenRatio":"inf"})", 0, 0, ratio},
      {R"({"maxTokens":10,"tokenRatio":"1,5"})", 0, 0, ratio},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.throttling);
    const ServiceConfigResult result = ServiceConfig::Read(
        absl::StrCat("{\"retryThrottling\":", c.throttling, "}"));
    EXPECT_EQ(Paths(result.errors), c.errors);
    if (!c.errors.empty()) continue;
    ASSERT_TRUE(result.policy->throttle());
    EXPECT_EQ(result.policy->throttle()->max_milli_tokens, c.max_milli_tokens);
    EXPECT_EQ(result.policy->throttle()->milli_token_ratio,
              c.milli_token_ratio);
  }
}

TEST(GapicDialectTest, BoundsRetriesByTime) {
  const ServiceConfigOptions gapic{ServiceConfigDialect::kGapic, ""};
  const std::string no_attempts = RetryPolicyWith("maxAttempts", absl::nullopt);
  EXPECT_FALSE(ServiceConfig::FromJson(DefaultEntry(no_attempts)).ok());

  const std::string bounded =
      DefaultEntry(absl::StrCat(no_attempts, R"(,"timeout":"60s")"));
  const auto policy = PolicyIn(bounded, "/a.B/C", gapic);
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->retry->max_attempts, RetryPolicy::kUnlimitedAttempts);
  EXPECT_EQ(policy->timeout, absl::Seconds(60));
  EXPECT_THAT(Lines(ServiceConfig::Read(bounded, gapic).warnings), IsEmpty());

  EXPECT_THAT(
      Lines(ServiceConfig::Read(DefaultEntry(no_attempts), gapic).warnings),
      ElementsAre(HasSubstr("retried for ever; add \"timeout\"")));
}

TEST(GapicDialectTest, NoCodesMeanNoRetry) {
  const ServiceConfigOptions gapic{ServiceConfigDialect::kGapic, ""};
  for (absl::optional<absl::string_view> codes :
       {absl::optional<absl::string_view>("[]"),
        absl::optional<absl::string_view>()}) {
    const auto policy =
        PolicyIn(DefaultEntry(RetryPolicyWith("retryableStatusCodes", codes)),
                 "/a.B/C", gapic);
    ASSERT_NE(policy, nullptr);
    EXPECT_FALSE(policy->retry);
  }
}

}  // namespace
}  // namespace redial
