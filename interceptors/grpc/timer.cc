#include "redial/grpc/timer.h"

#include <utility>

#include "redial/grpc/grpc_clock.h"

namespace redial {

Timer::Timer(Instant at, std::function<void(bool)> done) {
  alarm_.Set(TimespecFromInstant(at),
             [done = std::move(done)](bool fired) mutable {
               // The alarm keeps this lambda as long as itself: what `done`
               // holds may own the alarm.
               const std::function<void(bool)> run = std::move(done);
               done = nullptr;
               run(fired);
             });
}

}  // namespace redial
