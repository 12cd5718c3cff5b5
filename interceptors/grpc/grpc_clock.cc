#include "redial/grpc/grpc_clock.h"

#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace redial {
namespace {

int64_t Nanoseconds(gpr_timespec time) {
  int64_t nanoseconds = 0;
  if (__builtin_mul_overflow(time.tv_sec, int64_t{1000000000}, &nanoseconds) ||
      __builtin_add_overflow(nanoseconds, time.tv_nsec, &nanoseconds)) {
    return time.tv_sec < 0 ? std::numeric_limits<int64_t>::min()
                           : std::numeric_limits<int64_t>::max();
  }
  return nanoseconds;
}

}  // namespace

Instant GrpcNow() {
  return Instant::FromNanoseconds(Nanoseconds(gpr_now(GPR_CLOCK_MONOTONIC)));
}

Instant InstantFromTimespec(gpr_timespec time) {
  return InstantFromTimespec(time, GrpcNow());
}

Instant InstantFromTimespec(gpr_timespec time, Instant now) {
  // gpr_inf_future and gpr_inf_past.
  if (time.tv_sec == std::numeric_limits<int64_t>::max()) {
    return Instant::Infinite();
  }
  if (time.tv_sec == std::numeric_limits<int64_t>::min()) return Instant();
  const int64_t nanoseconds = Nanoseconds(time);
  switch (time.clock_type) {
    case GPR_CLOCK_MONOTONIC:
      return Instant::FromNanoseconds(nanoseconds);
    case GPR_TIMESPAN:
      return now.PlusNanoseconds(nanoseconds);
    default: {
      int64_t left = 0;
      if (__builtin_sub_overflow(
              nanoseconds, Nanoseconds(gpr_now(time.clock_type)), &left)) {
        return nanoseconds < 0 ? Instant() : Instant::Infinite();
      }
      return now.PlusNanoseconds(left);
    }
  }
}

gpr_timespec TimespecFromInstant(Instant instant) {
  if (instant.is_infinite()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  const absl::Duration since_epoch = instant.since_epoch();
  absl::Duration fraction;
  gpr_timespec time;
  time.tv_sec = absl::IDivDuration(since_epoch, absl::Seconds(1), &fraction);
  time.tv_nsec = static_cast<int32_t>(absl::ToInt64Nanoseconds(fraction));
  time.clock_type = GPR_CLOCK_MONOTONIC;
  return time;
}

}  // namespace redial
