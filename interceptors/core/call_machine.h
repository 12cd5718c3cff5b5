// CallMachine: one call, sans I/O. Events go in, each with `now`; actions come
// out. An adapter does what the actions say and reports what became of it; it
// never decides.
//
//   RetryMachine machine(std::move(setup));
//   CallMachine::Actions actions;
//   machine.Start(now, &actions);                     // StartAttempt{1}
//   machine.AttemptDone(1, outcome, now, &actions);   // WaitUntil or Finish
//   machine.Wake(now, &actions);                      // StartAttempt{2}
//
// Exactly one Finish comes out, whatever goes in; after it events do nothing.
// Not thread-safe: the adapter feeds events one at a time. Actions are
// appended, in the order in which they are to be done.
#ifndef REDIAL_CORE_CALL_MACHINE_H_
#define REDIAL_CORE_CALL_MACHINE_H_

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/variant.h"
#include "redial/core/call_report.h"
#include "redial/core/instant.h"
#include "redial/core/outcome.h"

namespace redial {

// Begin an attempt. It must end at `deadline`, the call's deadline or the
// attempt's own limit, whichever comes first. `timeout` is set (not infinite)
// where the attempt's own limit comes first: an adapter that ends the attempt
// itself then reports attempt_timed_out.
struct StartAttempt {
  int number = 1;
  AttemptKind kind = AttemptKind::kFirst;
  Instant deadline = Instant::Infinite();
  absl::Duration timeout = absl::InfiniteDuration();
};

// Call Wake at `time`. Any later action takes its place.
struct WaitUntil {
  Instant time;
  int next_attempt = 2;
  absl::Duration wait;
  WaitSource wait_from = WaitSource::kBackoff;
};

// End an attempt in flight; AttemptDone is still expected for it.
struct CancelAttempt {
  int number = 1;
};

// Tell the caller. The answer is that of `attempt`, or, where it is 0, `status`
// alone (never OK).
struct Finish {
  int attempt = 0;
  StopReason reason = StopReason::kSuccess;
  absl::Status status;
};

// Why a call is ended from outside.
enum class EndCause {
  kCaller,          // the caller cancelled
  kParent,          // the server call that this one serves was cancelled
  kParentDeadline,  // its deadline passed
  kDrain,           // shutting down: waits end, attempts in flight may finish
  kShutdown,        // shutting down: attempts in flight end too
};

class CallMachine {
 public:
  using Action = absl::variant<StartAttempt, WaitUntil, CancelAttempt, Finish>;
  using Actions = absl::InlinedVector<Action, 1>;

  virtual ~CallMachine() = default;

  virtual void Start(Instant now, Actions* actions) = 0;
  virtual void AttemptDone(int number, const Outcome& outcome, Instant now,
                           Actions* actions) = 0;
  // The caller has seen something of the answer.
  virtual void Committed(int number) = 0;
  virtual void Wake(Instant now, Actions* actions) = 0;
  // May come before Start.
  virtual void End(EndCause cause, Instant now, Actions* actions) = 0;

  virtual bool finished() const = 0;
  // Of the whole call; known from construction on.
  virtual Instant deadline() const = 0;
  // `method` and `idempotency_key` are the adapter's to fill.
  virtual CallReport Report(Instant now) const = 0;
};

}  // namespace redial

#endif  // REDIAL_CORE_CALL_MACHINE_H_
