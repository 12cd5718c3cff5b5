#include "redial/core/call_report.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Code = absl::StatusCode;

TEST(CallReportTest, ReasonsHaveTheNamesOfScenariosAndAText) {
  const std::vector<std::string> names = {"SUCCESS",
                                          "PERMANENT",
                                          "NOT_IDEMPOTENT",
                                          "ATTEMPTS_EXHAUSTED",
                                          "DEADLINE",
                                          "CANCELLED",
                                          "PUSHBACK_STOP",
                                          "PUSHBACK_TOO_LONG",
                                          "THROTTLED",
                                          "BUDGET_EXHAUSTED",
                                          "REQUEST_BUDGET",
                                          "RETRY_WINDOW",
                                          "COMMITTED",
                                          "NOT_REPLAYABLE",
                                          "UNKNOWN_MESSAGE_TYPE",
                                          "NO_POLICY",
                                          "REJECTED",
                                          "SHUTDOWN"};
  std::set<std::string> texts;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto reason = static_cast<StopReason>(i);
    EXPECT_EQ(StopReasonName(reason), names[i]);
    texts.emplace(StopReasonText(reason));
  }
  EXPECT_EQ(static_cast<size_t>(StopReason::kShutdown) + 1, names.size());
  EXPECT_EQ(texts.size(), names.size());
  EXPECT_EQ(texts.count(""), 0u);
}

TEST(CallReportTest, KindsClassesAndSourcesHaveTheNamesOfScenarios) {
  EXPECT_EQ(AttemptKindName(AttemptKind::kFirst), "FIRST");
  EXPECT_EQ(AttemptKindName(AttemptKind::kRetry), "RETRY");
  EXPECT_EQ(AttemptKindName(AttemptKind::kHedge), "HEDGE");
  EXPECT_EQ(OutcomeClassName(OutcomeClass::kSuccess), "SUCCESS");
  EXPECT_EQ(OutcomeClassName(OutcomeClass::kUnprocessed), "UNPROCESSED");
  EXPECT_EQ(OutcomeClassName(OutcomeClass::kTransient), "TRANSIENT");
  EXPECT_EQ(OutcomeClassName(OutcomeClass::kThrottled), "THROTTLED");
  EXPECT_EQ(OutcomeClassName(OutcomeClass::kAttemptTimeout), "ATTEMPT_TIMEOUT");
  EXPECT_EQ(OutcomeClassName(OutcomeClass::kPermanent), "PERMANENT");
  EXPECT_EQ(OutcomeClassName(OutcomeClass::kCancelled), "CANCELLED");
  EXPECT_EQ(OutcomeClassName(OutcomeClass::kDeadline), "DEADLINE");
  EXPECT_EQ(WaitSourceName(WaitSource::kNone), "NONE");
  EXPECT_EQ(WaitSourceName(WaitSource::kBackoff), "BACKOFF");
  EXPECT_EQ(WaitSourceName(WaitSource::kPushback), "PUSHBACK");
  EXPECT_EQ(WaitSourceName(WaitSource::kRetryInfo), "RETRY_INFO");
  EXPECT_EQ(WaitSourceName(WaitSource::kRetryAfter), "RETRY_AFTER");
  EXPECT_EQ(WaitSourceName(WaitSource::kPacing), "PACING");
  EXPECT_EQ(WaitSourceName(WaitSource::kHedge), "HEDGE");
}

TEST(CallReportTest, CodeNamesGoBothWays) {
  for (int n = 0; n <= 16; ++n) {
    const auto code = static_cast<Code>(n);
    EXPECT_EQ(CodeName(code), absl::StatusCodeToString(code));
    EXPECT_EQ(CodeFromName(CodeName(code)), code);
    EXPECT_EQ(CodeFromName(absl::AsciiStrToLower(CodeName(code))), code);
  }
  EXPECT_EQ(CodeName(static_cast<Code>(17)), "UNKNOWN");
  EXPECT_EQ(CodeName(static_cast<Code>(-1)), "UNKNOWN");
  for (const char* bad : {"", "14", "UNAVAILABL", "UNAVAILABLE ", "CANCELED"}) {
    EXPECT_EQ(CodeFromName(bad), absl::nullopt) << bad;
  }
}

CallReport Report(Code code, int attempts, StopReason reason) {
  CallReport report;
  report.code = code;
  report.attempts.resize(static_cast<size_t>(attempts));
  report.stop_reason = reason;
  report.elapsed = Ms(1200) + absl::Microseconds(345);
  return report;
}

TEST(CallReportTest, TheSummaryIsOneLine) {
  CallReport throttled =
      Report(Code::kResourceExhausted, 2, StopReason::kPushbackTooLong);
  throttled.retry_after = absl::Minutes(6);
  const struct {
    CallReport report;
    std::string line;
  } rows[] = {
      {Report(Code::kUnavailable, 3, StopReason::kAttemptsExhausted),
       "UNAVAILABLE after 3 attempts in 1.2s: attempts exhausted"},
      {Report(Code::kOk, 1, StopReason::kSuccess),
       "OK after 1 attempt in 1.2s"},
      {Report(Code::kCancelled, 0, StopReason::kCancelled),
       "CANCELLED after 0 attempts in 1.2s: cancelled by the caller"},
      {throttled,
       "RESOURCE_EXHAUSTED after 2 attempts in 1.2s: the server asked for a "
       "longer wait than allowed (server asked for 6m)"},
  };
  for (const auto& row : rows) EXPECT_EQ(row.report.Summary(), row.line);
}

TEST(CallReportTest, TheSummaryKeepsTheKeyToItself) {
  CallReport report = Report(Code::kOk, 1, StopReason::kSuccess);
  report.idempotency_key = "build-8812";
  EXPECT_THAT(report.Summary(), Not(HasSubstr("build-8812")));
}

}  // namespace
}  // namespace redial
