// Timer: one wait on gRPC's timer threads.
//
// A fresh grpc::Alarm for each wait: setting an alarm again before its callback
// has run makes it fire twice. Destroying a Timer cancels it; the callback runs
// all the same, later and on another thread, so what it captures must be kept
// alive by reference counting.
#ifndef REDIAL_GRPC_TIMER_H_
#define REDIAL_GRPC_TIMER_H_

#include <grpcpp/alarm.h>

#include <functional>

#include "redial/core/instant.h"

namespace redial {

class Timer {
 public:
  // `done` runs exactly once, on a thread of gRPC's and never inside this
  // constructor: true at `at`, false where the timer was cancelled. What it
  // captures is released when it has run.
  Timer(Instant at, std::function<void(bool)> done);

  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Thread-safe.
  void Cancel() { alarm_.Cancel(); }

 private:
  grpc::Alarm alarm_;
};

}  // namespace redial

#endif  // REDIAL_GRPC_TIMER_H_
