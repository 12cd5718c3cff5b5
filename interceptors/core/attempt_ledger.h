// AttemptLedger: the record of one call while it runs.
//
// Written by the machine only. The first attempt is stored in place, so that a
// call which succeeds at once allocates nothing for it.
#ifndef REDIAL_CORE_ATTEMPT_LEDGER_H_
#define REDIAL_CORE_ATTEMPT_LEDGER_H_

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "redial/core/call_report.h"
#include "redial/core/instant.h"

namespace redial {

class AttemptLedger {
 public:
  void CallStarted(Instant now) { call_start_ = now; }
  void AttemptStarted(int number, AttemptKind kind, absl::Duration wait,
                      WaitSource from, Instant now);
  void AttemptEnded(int number, const Outcome& outcome,
                    OutcomeClass outcome_class, Instant now);

  Instant call_start() const { return call_start_; }
  const absl::InlinedVector<AttemptRecord, 1>& attempts() const {
    return attempts_;
  }
  // How many attempts ended with this code or class.
  int CountEnded(absl::StatusCode code) const;
  int CountEnded(OutcomeClass outcome_class) const;

 private:
  Instant call_start_;
  absl::InlinedVector<AttemptRecord, 1> attempts_;
};

}  // namespace redial

#endif  // REDIAL_CORE_ATTEMPT_LEDGER_H_
