#include "redial/core/attempt_ledger.h"

#include <algorithm>

namespace redial {

void AttemptLedger::AttemptStarted(int number, AttemptKind kind,
                                   absl::Duration wait, WaitSource from,
                                   Instant now) {
  AttemptRecord& record = attempts_.emplace_back();
  record.number = number;
  record.kind = kind;
  record.wait = wait;
  record.wait_from = from;
  record.start = now - call_start_;
  record.end = record.start;
}

void AttemptLedger::AttemptEnded(int number, const Outcome& outcome,
                                 OutcomeClass outcome_class, Instant now) {
  // Nearly always the last one.
  const auto record = std::find_if(
      attempts_.rbegin(), attempts_.rend(),
      [number](const AttemptRecord& each) { return each.number == number; });
  if (record == attempts_.rend()) return;
  record->code = outcome.code;
  record->http_status = outcome.http_status;
  record->outcome_class = outcome_class;
  record->end = now - call_start_;
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
