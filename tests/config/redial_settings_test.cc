// The "redial" object: each key, its limits and its defaults.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/config/service_config.h"
#include "redial/core/backoff.h"
#include "redial/core/classifier.h"
#include "redial/core/idempotency.h"
#include "redial/core/outcome.h"
#include "redial/core/policy.h"
#include "redial/core/retry_budget.h"
#include "tests/config/config_documents.h"

namespace redial {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RedialSettingsTest, EmptyRetryHasTheDefaults) {
  const auto policy = PolicyIn(RedialEntry(""));
  ASSERT_NE(policy, nullptr);
  ASSERT_TRUE(policy->retry);
  const RetryPolicy& retry = *policy->retry;
  EXPECT_EQ(retry.max_attempts, 3);
  EXPECT_EQ(retry.backoff.form, BackoffForm::kFull);
  EXPECT_EQ(retry.backoff.base, absl::Milliseconds(500));
  EXPECT_EQ(retry.backoff.max, absl::Seconds(30));
  EXPECT_EQ(retry.backoff.multiplier, 2);
  EXPECT_FALSE(retry.classifier.retryable_codes);
  EXPECT_EQ(retry.max_retained_request_bytes, 256u * 1024);
  EXPECT_TRUE(retry.headers_commit);
  EXPECT_EQ(policy->previous_attempts_name, kPreviousAttemptsName);
  EXPECT_EQ(policy->key.name, kIdempotencyKeyName);
  EXPECT_FALSE(policy->key.generate);
  EXPECT_TRUE(policy->inherit_deadline);
  EXPECT_EQ(policy->retry_budget, nullptr);
  EXPECT_FALSE(policy->explain_in_message);
}

TEST(RedialSettingsTest, RetryTakesTheFieldsOfA6WithoutItsClamp) {
  const auto policy = PolicyIn(DefaultEntry(R"("redial":{"retry":{
      "maxAttempts":20,"initialBackoff":"0.1s","maxBackoff":"2s",
      "backoffMultiplier":1.5,"retryableStatusCodes":["unavailable"]}})"));
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->retry->max_attempts, 20);
  EXPECT_EQ(policy->retry->backoff.base, absl::Milliseconds(100));
  EXPECT_EQ(policy->retry->backoff.max, absl::Seconds(2));
  EXPECT_EQ(policy->retry->backoff.multiplier, 1.5);
  EXPECT_EQ(policy->retry->classifier.retryable_codes,
            CodeSet({absl::StatusCode::kUnavailable}));
}

TEST(RedialSettingsTest, ReadsEveryKey) {
  const auto policy = PolicyIn(RedialEntry(R"(
      "backoff":{"form":"proportional","jitter":0.5},
      "attemptTimeout":"1.5s","retryWindow":"20s","retryOnAttemptTimeout":false,
      "rules":[{"code":"ABORTED","errorReason":"r","errorDomain":"d",
                "metadata":"x-m","metadataValue":"v","class":"TRANSIENT"},
               {"httpStatus":409,"class":"PERMANENT"},
               {"transportError":"RESET","class":"UNPROCESSED"},
               {"attemptTimeout":true,"class":"THROTTLED"}],
      "attemptLimits":[{"code":8,"maxAttempts":2},
                       {"class":"ATTEMPT_TIMEOUT","maxAttempts":1}],
      "pushback":{"grpcPushback":"atLeast","retryInfo":"exact",
                  "retryAfter":"ignore","cap":"10s","clamp":true,
                  "capGrpcPushback":true},
      "headersCommit":false,"maxRetainedRequestBytes":1000,
      "idempotency":"NO_SIDE_EFFECTS",
      "idempotencyKey":{"generate":true,"name":"x-key"},
      "previousAttemptsMetadata":"x-attempts","inheritDeadline":false,
      "deadlineReserve":"0.05s",
      "retryBudget":{"ttl":"20s","ratio":0.35,"minRetriesPerSecond":1},
      "maxAttemptsLimit":10,"explainInMessage":true)"));
  ASSERT_NE(policy, nullptr);
  const RetryPolicy& retry = *policy->retry;
  EXPECT_EQ(retry.backoff.form, BackoffForm::kProportional);
  EXPECT_EQ(retry.backoff.jitter, 0.5);
  EXPECT_EQ(policy->attempt_timeout, absl::Milliseconds(1500));
  EXPECT_EQ(policy->retry_window, absl::Seconds(20));
  EXPECT_EQ(retry.attempt_timeout_retry, AttemptTimeoutRetry::kNever);
  ASSERT_EQ(retry.classifier.rules.size(), 4u);
  const ClassRule& first = retry.classifier.rules[0];
  EXPECT_EQ(first.code, absl::StatusCode::kAborted);
  EXPECT_EQ(first.error_reason, "r");
  EXPECT_EQ(first.error_domain, "d");
  EXPECT_EQ(first.metadata_name, "x-m");
  EXPECT_EQ(first.metadata_value, "v");
  EXPECT_EQ(first.outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ(retry.classifier.rules[1].http_status, 409);
  EXPECT_EQ(retry.classifier.rules[1].outcome_class, OutcomeClass::kPermanent);
  EXPECT_EQ(retry.classifier.rules[2].transport_error, TransportError::kReset);
  EXPECT_EQ(retry.classifier.rules[2].outcome_class,
            OutcomeClass::kUnprocessed);
  EXPECT_EQ(retry.classifier.rules[3].attempt_timed_out, true);
  EXPECT_EQ(retry.classifier.rules[3].outcome_class, OutcomeClass::kThrottled);
  ASSERT_EQ(retry.attempt_limits.size(), 2u);
  EXPECT_EQ(retry.attempt_limits[0].code, absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(retry.attempt_limits[0].max_attempts, 2);
  EXPECT_EQ(retry.attempt_limits[1].outcome_class,
            OutcomeClass::kAttemptTimeout);
  EXPECT_EQ(retry.pushback.grpc_pushback, PushbackPolicy::Mode::kAtLeast);
  EXPECT_EQ(retry.pushback.retry_info, PushbackPolicy::Mode::kExact);
  EXPECT_EQ(retry.pushback.retry_after, PushbackPolicy::Mode::kIgnore);
  EXPECT_EQ(retry.pushback.cap, absl::Seconds(10));
  EXPECT_TRUE(retry.pushback.clamp);
  EXPECT_TRUE(retry.pushback.cap_grpc_pushback);
  EXPECT_FALSE(retry.headers_commit);
  EXPECT_EQ(retry.max_retained_request_bytes, 1000u);
  EXPECT_EQ(policy->idempotency, Idempotency::kNoSideEffects);
  EXPECT_TRUE(policy->key.generate);
  EXPECT_EQ(policy->key.name, "x-key");
  EXPECT_EQ(policy->previous_attempts_name, "x-attempts");
  EXPECT_FALSE(policy->inherit_deadline);
  EXPECT_EQ(policy->deadline_reserve, absl::Milliseconds(50));
  EXPECT_NE(dynamic_cast<WindowedRetryBudget*>(policy->retry_budget.get()),
            nullptr);
  EXPECT_TRUE(policy->explain_in_message);
}

TEST(RedialSettingsTest, KnowsTheFormsOfBackoff) {
  const std::pair<const char*, BackoffForm> forms[] = {
      {"proportional", BackoffForm::kProportional},
      {"full", BackoffForm::kFull},
      {"equal", BackoffForm::kEqual},
      {"additive", BackoffForm::kAdditive},
      {"upTo", BackoffForm::kUpTo},
      {"decorrelated", BackoffForm::kDecorrelated},
  };
  for (const auto& form : forms) {
    const std::string backoff =
        absl::StrCat(R"("backoff":{"form":")", form.first, "\"}");
    EXPECT_EQ(PolicyIn(RedialEntry(backoff))->retry->backoff.form, form.second);
    EXPECT_EQ(PolicyIn(DefaultEntry(absl::StrCat(
                           RetryPolicyWith(), ",\"redial\":{", backoff, "}")))
                  ->retry->backoff.form,
              form.second)
        << "also over a retryPolicy: " << form.first;
  }
}

TEST(RedialSettingsTest, AnAttemptTimeoutOfZeroIsNone) {
  EXPECT_EQ(PolicyIn(RedialEntry(R"("attemptTimeout":"0s")"))->attempt_timeout,
            absl::InfiniteDuration());
}

TEST(RedialSettingsTest, AnEmptyNameSwitchesTheAttemptNumberOff) {
  EXPECT_EQ(PolicyIn(RedialEntry(R"("previousAttemptsMetadata":"")"))
                ->previous_attempts_name,
            "");
}

struct BadSetting {
  const char* members;
  const char* path;  // below methodConfig[0].redial
  const char* message;
};

TEST(RedialSettingsTest, RefusesWhatIsWrong) {
  const BadSetting cases[] = {
      {R"("backof":{})", "backof", "did you mean \"backoff\"?"},
      {R"("zzz":1)", "zzz", "known here: retry, backoff"},
      {R"("backoff":{"form":"fibonacci"})", "backoff.form",
       "one of proportional, full, equal, additive, upTo, decorrelated"},
      {R"("backoff":{"jitter":1.5})", "backoff.jitter", "a number from 0 to 1"},
      {R"("backoff":{"jitter":-0.1})", "backoff.jitter", "from 0 to 1"},
      {R"("backoff":{"jiter":1})", "backoff.jiter", "\"jitter\"?"},
      {R"("attemptTimeout":1)", "attemptTimeout", "must be a duration"},
      {R"("retryWindow":"0s")", "retryWindow", "above 0"},
      {R"("retryOnAttemptTimeout":"yes")", "retryOnAttemptTimeout",
       "true or false"},
      {R"("rules":{})", "rules", "must be an array"},
      {R"("rules":[{"class":"TRANSIENT"}])", "rules[0]", "has no condition"},
      {R"("rules":[{"code":"ABORTED"}])", "rules[0].class", "is missing"},
      {R"("rules":[{"code":"ABORTED","class":"SUCCESS"}])", "rules[0].class",
       "one of UNPROCESSED, TRANSIENT, THROTTLED, PERMANENT"},
      {R"("rules":[{"code":"OK","class":"TRANSIENT"}])", "rules[0].code",
       "is OK, which is no failure"},
      {R"("rules":[{"httpStatus":99,"class":"TRANSIENT"}])",
       "rules[0].httpStatus", "at least 100"},
      {R"("rules":[{"metadata":"X-Up","class":"TRANSIENT"}])",
       "rules[0].metadata", "lower-case"},
      {R"("rules":[{"code":14,"metadataValue":"v","class":"TRANSIENT"}])",
       "rules[0].metadataValue", "\"metadata\" must name"},
      {R"("rules":[{"transportError":"NONE","class":"TRANSIENT"}])",
       "rules[0].transportError", "one of NOT_SENT, RESET, PROTOCOL, OTHER"},
      {R"("rules":[{"cod":14,"code":14,"class":"TRANSIENT"}])", "rules[0].cod",
       "\"code\"?"},
      {R"("attemptLimits":[{"maxAttempts":2}])", "attemptLimits[0]",
       "either a \"code\" or a \"class\""},
      {R"("attemptLimits":[{"code":8,"class":"THROTTLED","maxAttempts":2}])",
       "attemptLimits[0]", "one of the two"},
      {R"("attemptLimits":[{"code":8}])", "attemptLimits[0].maxAttempts",
       "is missing"},
      {R"("attemptLimits":[{"code":8,"maxAttempts":0}])",
       "attemptLimits[0].maxAttempts", "at least 1"},
      {R"("pushback":{"retryInfo":"always"})", "pushback.retryInfo",
       "one of exact, atLeast, ignore"},
      {R"("pushback":{"cap":"5m"})", "pushback.cap", "must be a duration"},
      {R"("pushback":{"capp":"5s"})", "pushback.capp", "\"cap\"?"},
      {R"("headersCommit":1)", "headersCommit", "true or false"},
      {R"("maxRetainedRequestBytes":-1)", "maxRetainedRequestBytes",
       "at least 0"},
      {R"("idempotency":"YES")", "idempotency",
       "one of IDEMPOTENT, NO_SIDE_EFFECTS, NOT_IDEMPOTENT"},
      {R"("idempotencyKey":{"name":"Idempotency-Key"})", "idempotencyKey.name",
       "lower-case"},
      {R"("idempotencyKey":{"name":""})", "idempotencyKey.name", "lower-case"},
      {R"("idempotencyKey":{"name":"grpc-key"})", "idempotencyKey.name",
       "does not begin with \"grpc-\""},
      {R"("idempotencyKey":{"name":"key-bin"})", "idempotencyKey.name",
       "does not end with \"-bin\""},
      {R"("idempotencyKey":{"name":"user-agent"})", "idempotencyKey.name",
       "HTTP does not use itself"},
      {R"("idempotencyKey":{"name":"a:b"})", "idempotencyKey.name",
       "a metadata name"},
      {R"("previousAttemptsMetadata":"grpc-previous-rpc-attempts")",
       "previousAttemptsMetadata", "does not begin with"},
      {R"("previousAttemptsMetadata":"idempotency-key")",
       "previousAttemptsMetadata", "another name"},
      {R"("deadlineReserve":"-1s")", "deadlineReserve", "must be a duration"},
      {R"("retryBudget":{"ratio":-0.1})", "retryBudget.ratio", "at least 0"},
      {R"("retryBudget":{"ratio":1001})", "retryBudget.ratio", "0 to 1000"},
      {R"("retryBudget":{"ttl":"0s"})", "retryBudget.ttl",
       "at least \"0.01s\""},
      {R"("retryBudget":{"ttl":"86401s"})", "retryBudget.ttl", "\"86400s\""},
      {R"("retryBudget":{"minRetriesPerSecond":0.5})",
       "retryBudget.minRetriesPerSecond", "an integer"},
      {R"("retryBudget":{"ratio":0.1,"inFlight":{}})", "retryBudget",
       "mixes two forms"},
      {R"("retryBudget":{"inFlight":{"ttl":"1s"}})", "retryBudget.inFlight.ttl",
       "no known key"},
      {R"("maxAttemptsLimit":0)", "maxAttemptsLimit", "at least 1"},
      {R"("explainInMessage":null,"inheritDeadline":0)", "inheritDeadline",
       "true or false"},
  };
  for (const BadSetting& bad : cases) {
    const ServiceConfigResult result =
        ServiceConfig::Read(RedialEntry(bad.members));
    EXPECT_EQ(result.policy, nullptr) << bad.members;
    EXPECT_THAT(Lines(result.errors), ElementsAre(HasSubstr(bad.message)))
        << bad.members;
    EXPECT_THAT(Paths(result.errors),
                ElementsAre(absl::StrCat("methodConfig[0].redial.", bad.path)))
        << bad.members;
  }
}

TEST(RedialSettingsTest, RetryFieldsAreChecked) {
  const BadSetting cases[] = {
      {R"({"maxAttempts":0})", ".maxAttempts", "at least 1"},
      {R"({"maxAttempts":"3"})", ".maxAttempts", "an integer"},
      {R"({"initialBackoff":"0s"})", ".initialBackoff", "above 0"},
      {R"({"maxBackoff":5})", ".maxBackoff", "must be a duration"},
      {R"({"backoffMultiplier":0})", ".backoffMultiplier", "above 0"},
      {R"({"retryableStatusCodes":[]})", ".retryableStatusCodes", "is empty"},
      {R"({"perAttemptRecvTimeout":"1s"})", ".perAttemptRecvTimeout",
       "is no known key"},
      {"true", "", "must be an object"},
  };
  for (const BadSetting& bad : cases) {
    const ServiceConfigResult result = ServiceConfig::Read(
        DefaultEntry(absl::StrCat(R"("redial":{"retry":)", bad.members, "}")));
    EXPECT_THAT(Lines(result.errors), ElementsAre(HasSubstr(bad.message)))
        << bad.members;
    EXPECT_THAT(
        Paths(result.errors),
        ElementsAre(absl::StrCat("methodConfig[0].redial.retry", bad.path)));
  }
}

TEST(RedialSettingsTest, RetryStandsInThePlaceOfRetryPolicy) {
  const ServiceConfigResult result = ServiceConfig::Read(DefaultEntry(
      absl::StrCat(RetryPolicyWith(), R"(,"redial":{"retry":{}})")));
  EXPECT_THAT(Paths(result.errors),
              ElementsAre("methodConfig[0].redial.retry"));
}

TEST(RedialSettingsTest, TheTopGivesDefaultsThatAMethodReplacesOneByOne) {
  const std::string json = R"({
    "redial":{"backoff":{"form":"equal","jitter":0.3},"attemptTimeout":"1s",
              "pushback":{"cap":"7s","clamp":true},
              "idempotencyKey":{"name":"x-top"}},
    "methodConfig":[
      {"name":[{"service":"a"}],"redial":{"retry":{}}},
      {"name":[{"service":"b"}],"redial":{"retry":{},
         "backoff":{"form":"full"},"pushback":{"cap":"9s"},
         "attemptTimeout":"0s","idempotencyKey":{"generate":true}}}]})";
  const auto a = PolicyIn(json, "/a/M");
  EXPECT_EQ(a->retry->backoff.form, BackoffForm::kEqual);
  EXPECT_EQ(a->attempt_timeout, absl::Seconds(1));
  EXPECT_EQ(a->retry->pushback.cap, absl::Seconds(7));
  EXPECT_FALSE(a->key.generate);
  EXPECT_EQ(a->key.name, "x-top");
  const auto b = PolicyIn(json, "/b/M");
  EXPECT_EQ(b->retry->backoff.form, BackoffForm::kFull);
  EXPECT_EQ(b->retry->backoff.jitter, 0.3);
  EXPECT_EQ(b->attempt_timeout, absl::InfiniteDuration());
  EXPECT_EQ(b->retry->pushback.cap, absl::Seconds(9));
  EXPECT_TRUE(b->retry->pushback.clamp);
  EXPECT_TRUE(b->key.generate);
  EXPECT_EQ(b->key.name, "x-top");
}

TEST(RedialSettingsTest, RetryHasNoPlaceAtTheTop) {
  EXPECT_THAT(Lines(ServiceConfig::Read(R"({"redial":{"retry":{}}})").errors),
              ElementsAre(HasSubstr("redial.retry: has no place at the top")));
}

TEST(RedialSettingsTest, TheBudgetOfTheTopIsOneForAll) {
  const std::string json = R"({
    "redial":{"retryBudget":{"inFlight":{"ratio":0.5,"minRetries":2}}},
    "methodConfig":[
      {"name":[{"service":"a"}],"redial":{"retry":{}}},
      {"name":[{"service":"b"},{"service":"c"}],"redial":{"retry":{}}},
      {"name":[{"service":"d"}],
       "redial":{"retry":{},"retryBudget":{}}}]})";
  const auto table = ServiceConfig::FromJson(json);
  ASSERT_TRUE(table.ok()) << table.status();
  const auto budget = [&](absl::string_view method) {
    return (*(*table)->Find(method))->retry_budget;
  };
  ASSERT_NE(budget("/a/M"), nullptr);
  EXPECT_NE(dynamic_cast<InFlightRetryBudget*>(budget("/a/M").get()), nullptr);
  EXPECT_EQ(budget("/a/M"), budget("/b/M"));
  EXPECT_EQ(budget("/a/M"), budget("/c/M"));
  EXPECT_NE(budget("/a/M"), budget("/d/M"));
}

TEST(RedialSettingsTest, WarnsOfSettingsThatDoNothing) {
  const ServiceConfigResult result = ServiceConfig::Read(DefaultEntry(
      R"("redial":{"backoff":{"form":"full"},"explainInMessage":true,
         "rules":[]})"));
  EXPECT_THAT(Lines(result.errors), IsEmpty());
  EXPECT_THAT(Lines(result.warnings),
              ElementsAre(HasSubstr("redial.backoff: does nothing"),
                          HasSubstr("redial.rules: does nothing")));
}

}  // namespace
}  // namespace redial
