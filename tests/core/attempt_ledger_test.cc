#include "redial/core/attempt_ledger.h"

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redial/core/call_report.h"
#include "redial/core/outcome.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using Code = absl::StatusCode;

Instant At(absl::Duration after) {
  return Instant::FromEpoch(absl::Hours(100) + after);
}

void Record(AttemptLedger& ledger, int number, Code code,
            OutcomeClass outcome_class) {
  ledger.AttemptStarted(number,
                        number == 1 ? AttemptKind::kFirst : AttemptKind::kRetry,
                        Ms(0), WaitSource::kNone, At(Ms(0)));
  ledger.AttemptEnded(number, Failure(code), outcome_class, At(Ms(0)));
}

TEST(AttemptLedgerTest, TimesCountFromTheStartOfTheCall) {
  AttemptLedger ledger;
  ledger.CallStarted(At(Ms(0)));
  ledger.AttemptStarted(1, AttemptKind::kFirst, Ms(0), WaitSource::kNone,
                        At(Ms(1)));
  Outcome outcome = Failure(Code::kUnavailable);
  outcome.http_status = 503;
  ledger.AttemptEnded(1, outcome, OutcomeClass::kTransient, At(Ms(6)));
  ledger.AttemptStarted(2, AttemptKind::kRetry, Ms(100), WaitSource::kBackoff,
                        At(Ms(107)));
  EXPECT_EQ(ledger.call_start(), At(Ms(0)));
  ASSERT_EQ(ledger.attempts().size(), 2u);
  const AttemptRecord& first = ledger.attempts()[0];
  EXPECT_EQ(first.number, 1);
  EXPECT_EQ(first.kind, AttemptKind::kFirst);
  EXPECT_EQ(first.code, Code::kUnavailable);
  EXPECT_EQ(first.http_status, 503);
  EXPECT_EQ(first.outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ(first.start, Ms(1));
  EXPECT_EQ(first.end, Ms(6));
  const AttemptRecord& second = ledger.attempts()[1];
  EXPECT_EQ(second.kind, AttemptKind::kRetry);
  EXPECT_EQ(second.wait, Ms(100));
  EXPECT_EQ(second.wait_from, WaitSource::kBackoff);
  EXPECT_EQ(second.start, Ms(107));
  // In flight: no length yet.
  EXPECT_EQ(second.end, second.start);
}

TEST(AttemptLedgerTest, CountsByCodeAndByClassApart) {
  AttemptLedger ledger;
  Record(ledger, 1, Code::kUnavailable, OutcomeClass::kTransient);
  Record(ledger, 2, Code::kResourceExhausted, OutcomeClass::kThrottled);
  Record(ledger, 3, Code::kUnavailable, OutcomeClass::kUnprocessed);
  EXPECT_EQ(ledger.CountEnded(Code::kUnavailable), 2);
  EXPECT_EQ(ledger.CountEnded(Code::kResourceExhausted), 1);
  EXPECT_EQ(ledger.CountEnded(Code::kAborted), 0);
  EXPECT_EQ(ledger.CountEnded(OutcomeClass::kTransient), 1);
  EXPECT_EQ(ledger.CountEnded(OutcomeClass::kUnprocessed), 1);
  EXPECT_EQ(ledger.CountEnded(OutcomeClass::kThrottled), 1);
  EXPECT_EQ(ledger.CountEnded(OutcomeClass::kPermanent), 0);
}

TEST(AttemptLedgerTest, TheEndOfAnUnknownAttemptChangesNothing) {
  AttemptLedger ledger;
  ledger.AttemptEnded(1, Failure(Code::kAborted), OutcomeClass::kPermanent,
                      At(Ms(0)));
  EXPECT_TRUE(ledger.attempts().empty());
  Record(ledger, 1, Code::kUnavailable, OutcomeClass::kTransient);
  ledger.AttemptEnded(7, Failure(Code::kAborted), OutcomeClass::kPermanent,
                      At(Ms(0)));
  EXPECT_EQ(ledger.CountEnded(Code::kAborted), 0);
}

}  // namespace
}  // namespace redial
