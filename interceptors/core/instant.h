// Instant: a point in monotonic time.
//
// The engine never asks what time it is: every event carries an Instant that
// the adapter read from a monotonic clock. Instants count from an arbitrary
// epoch (the clock's own), so they say nothing about the calendar and do not
// move when somebody sets the wall clock. Arithmetic saturates, as
// absl::Duration does: infinite plus anything is infinite.
//
//   Instant deadline = now + absl::Seconds(2);
//   if (now + wait >= deadline) ...
#ifndef REDIAL_CORE_INSTANT_H_
#define REDIAL_CORE_INSTANT_H_

#include "absl/time/time.h"

namespace redial {

class Instant {
 public:
  // The epoch of the clock.
  constexpr Instant() = default;

  static Instant FromEpoch(absl::Duration since_epoch) {
    return Instant(since_epoch);
  }
  // Never: the value of a deadline that was not set.
  static Instant Infinite() { return Instant(absl::InfiniteDuration()); }

  absl::Duration since_epoch() const { return since_epoch_; }
  bool is_infinite() const { return since_epoch_ == absl::InfiniteDuration(); }

  friend Instant operator+(Instant at, absl::Duration length) {
    return Instant(at.since_epoch_ + length);
  }
  friend Instant operator-(Instant at, absl::Duration length) {
    return Instant(at.since_epoch_ - length);
  }
  friend absl::Duration operator-(Instant a, Instant b) {
    return a.since_epoch_ - b.since_epoch_;
  }
  friend bool operator==(Instant a, Instant b) {
    return a.since_epoch_ == b.since_epoch_;
  }
  friend bool operator!=(Instant a, Instant b) { return !(a == b); }
  friend bool operator<(Instant a, Instant b) {
    return a.since_epoch_ < b.since_epoch_;
  }
  friend bool operator>(Instant a, Instant b) { return b < a; }
  friend bool operator<=(Instant a, Instant b) { return !(b < a); }
  friend bool operator>=(Instant a, Instant b) { return !(a < b); }

 private:
  explicit Instant(absl::Duration since_epoch) : since_epoch_(since_epoch) {}

  absl::Duration since_epoch_;
};

}  // namespace redial

#endif  // REDIAL_CORE_INSTANT_H_
