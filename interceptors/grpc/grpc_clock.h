// GrpcClock: the monotonic clock that this adapter reads, and conversions
// between Instant and gRPC's timespecs.
#ifndef REDIAL_GRPC_GRPC_CLOCK_H_
#define REDIAL_GRPC_GRPC_CLOCK_H_

#include <grpc/support/time.h>

#include "redial/core/instant.h"

namespace redial {

Instant GrpcNow();

// Any clock type, a timespan included (it counts from now). Conversions of wall
// clock deadlines are done once, so that setting the clock later moves nothing.
Instant InstantFromTimespec(gpr_timespec time);
// The same, where `now` has just been read.
Instant InstantFromTimespec(gpr_timespec time, Instant now);

// A monotonic timespec; infinite stays infinite.
gpr_timespec TimespecFromInstant(Instant instant);

}  // namespace redial

#endif  // REDIAL_GRPC_GRPC_CLOCK_H_
