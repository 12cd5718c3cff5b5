#include "redial/core/attempt_ledger.h"

#include <algorithm>

namespace redial {

void AttemptLedger::AttemptStarted(int number, AttemptKind kind,
                                   absl::Duration wait, WaitSource from,
                                   Instant now) {
  AttemptRecord record;
  record.number = number;
  record.kind = kind;
  record.wait = wait;
  record.wait_from = from;
  record.start = now - call_start_;
  record.end = record.start;
  attempts_.push_back(record);
}

void AttemptLedger::AttemptEnded(int number, const Outcome& outcome,
                                 OutcomeClass outcome_class, Instant now) {
  for (AttemptRecord& record : attempts_) {
    if (record.number != number) continue;
    record.code = outcome.code;
    record.http_status = outcome.http_status;
    record.outcome_class = outcome_class;
    record.end = now - call_start_;
    return;
  }
}

int AttemptLedger::CountEnded(absl::StatusCode code) const {
  return static_cast<int>(std::count_if(
      attempts_.begin(), attempts_.end(),
      [code](const AttemptRecord& record) { return record.code == code; }));
}

int AttemptLedger::CountEnded(OutcomeClass outcome_class) const {
  return static_cast<int>(
      std::count_if(attempts_.begin(), attempts_.end(),
                    [outcome_class](const AttemptRecord& record) {
                      return record.outcome_class == outcome_class;
                    }));
}

}  // namespace redial
