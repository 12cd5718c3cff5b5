#include "redial/grpc/grpc_clock.h"

#include "absl/time/time.h"

namespace redial {
namespace {

Instant FromMonotonic(gpr_timespec time) {
  return Instant::FromEpoch(absl::Seconds(time.tv_sec) +
                            absl::Nanoseconds(time.tv_nsec));
}

}  // namespace

Instant GrpcNow() { return FromMonotonic(gpr_now(GPR_CLOCK_MONOTONIC)); }

Instant InstantFromTimespec(gpr_timespec time) {
  if (gpr_time_cmp(time, gpr_inf_future(time.clock_type)) == 0) {
    return Instant::Infinite();
  }
  if (gpr_time_cmp(time, gpr_inf_past(time.clock_type)) == 0) {
    return Instant();
  }
  return FromMonotonic(gpr_convert_clock_type(time, GPR_CLOCK_MONOTONIC));
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
