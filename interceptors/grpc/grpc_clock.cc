#include "redial/grpc/grpc_clock.h"

#include <ctime>

#include "absl/time/time.h"

namespace redial {
namespace {

absl::Duration Length(gpr_timespec time) {
  timespec length;
  length.tv_sec = time.tv_sec;
  length.tv_nsec = time.tv_nsec;
  return absl::DurationFromTimespec(length);
}

}  // namespace

Instant GrpcNow() {
  return Instant::FromEpoch(Length(gpr_now(GPR_CLOCK_MONOTONIC)));
}

Instant InstantFromTimespec(gpr_timespec time) {
  return InstantFromTimespec(time, GrpcNow());
}

Instant InstantFromTimespec(gpr_timespec time, Instant now) {
  if (gpr_time_cmp(time, gpr_inf_future(time.clock_type)) == 0) {
    return Instant::Infinite();
  }
  if (gpr_time_cmp(time, gpr_inf_past(time.clock_type)) == 0) {
    return Instant();
  }
  switch (time.clock_type) {
    case GPR_CLOCK_MONOTONIC:
      return Instant::FromEpoch(Length(time));
    case GPR_TIMESPAN:
      return now + Length(time);
    default:
      return now + (Length(time) - Length(gpr_now(time.clock_type)));
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
