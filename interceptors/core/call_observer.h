// CallObserver: sees what the engine does (features 6.3).
//
// Registered once per channel or client; an adapter calls it as things happen.
// Every hook does nothing by default. Hooks run on the threads of the call, one
// at a time per call, with no lock held; they must not block. Implementations
// are shared by all calls and must be thread-safe. Where no observer is
// registered nothing is computed for one.
#ifndef REDIAL_CORE_CALL_OBSERVER_H_
#define REDIAL_CORE_CALL_OBSERVER_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "redial/core/call_report.h"

namespace redial {

struct CallInfo {
  // Unique within the process, to tell calls apart.
  uint64_t call_id = 0;
  absl::string_view method;
  absl::string_view target;
};

struct RetryScheduled {
  int next_attempt = 2;
  absl::Duration wait;
  WaitSource wait_from = WaitSource::kBackoff;
  // What the attempt before it ended with.
  OutcomeClass because = OutcomeClass::kTransient;
  absl::StatusCode code = absl::StatusCode::kUnavailable;
};

class CallObserver {
 public:
  virtual ~CallObserver() = default;

  virtual void OnCallStart(const CallInfo& call) {}
  virtual void OnAttemptStart(const CallInfo& call, int number,
                              AttemptKind kind) {}
  virtual void OnAttemptEnd(const CallInfo& call,
                            const AttemptRecord& attempt) {}
  virtual void OnRetryScheduled(const CallInfo& call,
                                const RetryScheduled& retry) {}
  // Also for calls of which nothing was sent.
  virtual void OnCallEnd(const CallInfo& call, const CallReport& report) {}
};

}  // namespace redial

#endif  // REDIAL_CORE_CALL_OBSERVER_H_
