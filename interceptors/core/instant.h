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

#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace redial {

class Instant {
 public:
  // The epoch of the clock.
  constexpr Instant() = default;

  // Cut to whole nanoseconds; beyond 292 years it is infinite.
  static Instant FromEpoch(absl::Duration since_epoch) {
    return Instant(absl::ToInt64Nanoseconds(since_epoch));
  }
  static constexpr Instant FromNanoseconds(int64_t since_epoch) {
    return Instant(since_epoch);
  }
  // Never: the value of a deadline that was not set.
  static constexpr Instant Infinite() { return Instant(kInfinite); }

  Instant PlusNanoseconds(int64_t length) const {
    return Instant(Add(nanoseconds_, length));
  }

  absl::Duration since_epoch() const { return Length(nanoseconds_); }
  bool is_infinite() const { return nanoseconds_ == kInfinite; }

  friend Instant operator+(Instant at, absl::Duration length) {
    // Infinite ones are common, and slow to convert.
    if (at.is_infinite() || length == absl::InfiniteDuration()) {
      return Infinite();
    }
    return at.PlusNanoseconds(absl::ToInt64Nanoseconds(length));
  }
  friend Instant operator-(Instant at, absl::Duration length) {
    return at.is_infinite() ? at : at + -length;
  }
  friend absl::Duration operator-(Instant a, Instant b) {
    int64_t difference = 0;
    if (a.is_infinite() || b.is_infinite() ||
        __builtin_sub_overflow(a.nanoseconds_, b.nanoseconds_, &difference)) {
      return Length(a.nanoseconds_) - Length(b.nanoseconds_);
    }
    return absl::Nanoseconds(difference);
  }
  friend bool operator==(Instant a, Instant b) {
    return a.nanoseconds_ == b.nanoseconds_;
  }
  friend bool operator!=(Instant a, Instant b) { return !(a == b); }
  friend bool operator<(Instant a, Instant b) {
    return a.nanoseconds_ < b.nanoseconds_;
  }
  friend bool operator>(Instant a, Instant b) { return b < a; }
  friend bool operator<=(Instant a, Instant b) { return !(b < a); }
  friend bool operator>=(Instant a, Instant b) { return !(a < b); }

 private:
  static constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max();

  constexpr explicit Instant(int64_t nanoseconds) : nanoseconds_(nanoseconds) {}

  static absl::Duration Length(int64_t nanoseconds) {
    return nanoseconds == kInfinite ? absl::InfiniteDuration()
                                    : absl::Nanoseconds(nanoseconds);
  }
  // Infinite plus anything is infinite; overflow saturates.
  static int64_t Add(int64_t at, int64_t length) {
    if (at == kInfinite) return kInfinite;
    int64_t sum = 0;
    if (!__builtin_add_overflow(at, length, &sum)) return sum;
    return length > 0 ? kInfinite : std::numeric_limits<int64_t>::min();
  }

  int64_t nanoseconds_ = 0;
};

}  // namespace redial

#endif  // REDIAL_CORE_INSTANT_H_
