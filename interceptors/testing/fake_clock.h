// FakeClock: monotonic time that moves only when a test says so.
//
// Not thread-safe where it is moved; reading and moving from one thread is the
// intended use.
//
//   FakeClock clock;
//   budget.TryWithdraw(clock.Now());
//   clock.Advance(absl::Seconds(10));
#ifndef REDIAL_TESTING_FAKE_CLOCK_H_
#define REDIAL_TESTING_FAKE_CLOCK_H_

#include "absl/time/time.h"
#include "redial/core/instant.h"

namespace redial {

class FakeClock {
 public:
  // Starts at the epoch, or at `now`.
  FakeClock() = default;
  explicit FakeClock(Instant now) : now_(now) {}

  Instant Now() const { return now_; }

  // Negative lengths move backwards: a hazard that code under test may have to
  // survive.
  void Advance(absl::Duration length) { now_ = now_ + length; }
  void MoveTo(Instant now) { now_ = now; }

 private:
  Instant now_;
};

}  // namespace redial

#endif  // REDIAL_TESTING_FAKE_CLOCK_H_
