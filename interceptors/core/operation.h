// Operation: the request budget of one piece of work (features 4.4).
//
// A piece of work (a request from a user, a batch job) often makes several
// calls, each with retries. An Operation bounds them together: at most so many
// requests, first attempts included, and optionally no attempt or wait after a
// retry window. Share one object by shared_ptr and name it in the CallOptions
// of each call. Thread-safe.
//
//   auto work = std::make_shared<Operation>(Operation::Limits{10});
//   CallOptions options; options.set_operation(work);
//   ... work->requests_used();
#ifndef REDIAL_CORE_OPERATION_H_
#define REDIAL_CORE_OPERATION_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "redial/core/instant.h"

namespace redial {

class Operation {
 public:
  struct Limits {
    // 0: nothing may be sent.
    int64_t max_requests = 0;
    // From the first call that uses the operation. Infinite = none.
    absl::Duration retry_window = absl::InfiniteDuration();
  };
  explicit Operation(const Limits& limits) : limits_(limits) {}

  // A call of this operation begins; the first one starts the window.
  void CallStarted(Instant now);
  // Takes one request. False: the budget is used up.
  bool TryTake();
  // Gives back a request that was taken and then not sent.
  void GiveBack();
  // No attempt and no wait begins after it. Infinite until CallStarted.
  Instant window_end() const;

  int64_t requests_used() const { return used_.load(); }
  int64_t max_requests() const { return limits_.max_requests; }

 private:
  const Limits limits_;
  std::atomic<int64_t> used_{0};
  // Nanoseconds of the first start since the clock's epoch; -1: not started.
  std::atomic<int64_t> started_ns_{-1};
};

}  // namespace redial

#endif  // REDIAL_CORE_OPERATION_H_
