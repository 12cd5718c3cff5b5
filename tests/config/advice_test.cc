#include "redial/config/advice.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/config/service_config.h"
#include "tests/config/config_documents.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> AdviceOn(absl::string_view json) {
  const ServiceConfigResult result = ServiceConfig::Read(json);
  EXPECT_NE(result.policy, nullptr) << result.ToStatus();
  return Lines(ConfigAdvice(result));
}

// With a throttle, so that nothing is said about load.
std::string Throttled(absl::string_view members) {
  return absl::StrCat(
      R"({"retryThrottling":{"maxTokens":10,"tokenRatio":0.1},)"
      R"("methodConfig":[{"name":[{"service":"A"},{"service":"B"}],)",
      members, "}]}");
}

std::string Codes(absl::string_view codes, absl::string_view more = "") {
  return Throttled(
      absl::StrCat(RetryPolicyWith("retryableStatusCodes", codes), more));
}

TEST(AdviceTest, IsSilentOnAWiseConfig) {
  EXPECT_THAT(AdviceOn(Throttled(RetryPolicyWith())), IsEmpty());
  EXPECT_THAT(AdviceOn(Codes(R"(["UNAVAILABLE"])")), IsEmpty());
  EXPECT_THAT(AdviceOn("{}"), IsEmpty());
}

TEST(AdviceTest, NamesCodesThatDoNotTellWhetherTheServerActed) {
  constexpr absl::string_view kUnclear =
      R"(["UNAVAILABLE","INTERNAL","DATA_LOSS"])";
  EXPECT_THAT(
      AdviceOn(Codes(kUnclear)),
      ElementsAre(AllOf(
          HasSubstr("methodConfig[0].retryPolicy.retryableStatusCodes: lists "
                    "INTERNAL, DATA_LOSS, after which"),
          HasSubstr("\"idempotency\": \"IDEMPOTENT\""))));
  for (absl::string_view declared :
       {R"(,"redial":{"idempotency":"IDEMPOTENT"})",
        R"(,"redial":{"idempotency":"NO_SIDE_EFFECTS"})",
        R"(,"redial":{"idempotencyKey":{"generate":true}})"}) {
    EXPECT_THAT(AdviceOn(Codes(kUnclear, declared)), IsEmpty()) << declared;
  }
}

TEST(AdviceTest, NamesCodesThatStay) {
  EXPECT_THAT(AdviceOn(Codes(R"(["NOT_FOUND","UNAVAILABLE"])")),
              ElementsAre(HasSubstr("lists NOT_FOUND, which another attempt")));
  EXPECT_THAT(AdviceOn(Codes(R"(["RESOURCE_EXHAUSTED"])")),
              ElementsAre(HasSubstr("a message that is too large")));
}

TEST(AdviceTest, WaitsShorterThanAReconnect) {
  const absl::string_view quick =
      R"("retryPolicy":{"maxAttempts":3,"initialBackoff":"0.1s",
         "maxBackoff":"1s","backoffMultiplier":2,
         "retryableStatusCodes":["UNAVAILABLE"]})";
  EXPECT_THAT(AdviceOn(Throttled(quick)),
              ElementsAre(HasSubstr(
                  "methodConfig[0].retryPolicy: waits at most 0.36s in all")));
  EXPECT_THAT(
      AdviceOn(Throttled(absl::StrCat(quick, R"(,"waitForReady":true)"))),
      IsEmpty());
}

TEST(AdviceTest, TimesThatDoNotFitTogether) {
  EXPECT_THAT(
      AdviceOn(
          Throttled(absl::StrCat(RetryPolicyWith(), R"(,"timeout":"0.5s")"))),
      ElementsAre(HasSubstr("methodConfig[0].timeout: is 0.5s, shorter than "
                            "the first backoff of 1s")));
  EXPECT_THAT(AdviceOn(Throttled(absl::StrCat(
                  RetryPolicyWith("perAttemptRecvTimeout", R"("9s")"),
                  R"(,"timeout":"9s")"))),
              ElementsAre(HasSubstr("is 9s, and one attempt may take 9s")));
  EXPECT_THAT(
      AdviceOn(Throttled(RetryPolicyWith("maxBackoff", R"("0.9s")"))),
      ElementsAre(HasSubstr("retryPolicy.initialBackoff: is 1s, longer than "
                            "maxBackoff, and counts as 0.9s")));
  EXPECT_THAT(AdviceOn(Throttled(R"("redial":{"retry":{"maxAttempts":1}})")),
              ElementsAre(HasSubstr("redial.retry.maxAttempts: is 1")));
}

TEST(AdviceTest, RetriesWithoutALimitOnTheLoad) {
  const std::string json = DefaultEntry(RetryPolicyWith());
  EXPECT_THAT(
      AdviceOn(json),
      ElementsAre(AllOf(HasSubstr("retryThrottling: is missing, and so is a "
                                  "retryBudget for methodConfig[0]: "),
                        HasSubstr("up to 3 times the load"))));
  EXPECT_THAT(AdviceOn(DefaultEntry(absl::StrCat(
                  RetryPolicyWith(), R"(,"redial":{"retryBudget":{}})"))),
              IsEmpty());
}

}  // namespace
}  // namespace redial
