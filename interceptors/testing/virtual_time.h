// VirtualTime: a queue of events whose clock jumps from one to the next.
//
// Hours pass in microseconds and always in the same order: events run by time,
// and those of one time in the order in which they were scheduled. Not
// thread-safe; events may schedule and cancel others.
//
//   VirtualTime time;
//   time.At(time.Now() + absl::Hours(1), [&] { machine.Wake(...); });
//   time.Run();
#ifndef REDIAL_TESTING_VIRTUAL_TIME_H_
#define REDIAL_TESTING_VIRTUAL_TIME_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "redial/core/instant.h"

namespace redial {

class VirtualTime {
 public:
  // Names a scheduled event; the default names none.
  struct Event {
    Instant at;
    uint64_t sequence = 0;
  };

  explicit VirtualTime(Instant now = Instant()) : now_(now) {}

  Instant Now() const { return now_; }

  // `when` in the past means now; infinite means never.
  Event At(Instant when, std::function<void()> what);
  // Does nothing if the event has run, was cancelled or names none.
  void Cancel(const Event& event);

  // Runs the next event. False if there is none.
  bool RunNext();
  // Runs events until none is left. False if there still were some after
  // `limit` of them.
  bool Run(size_t limit = 100'000'000);

 private:
  Instant now_;
  uint64_t sequence_ = 0;
  std::map<std::pair<Instant, uint64_t>, std::function<void()>> events_;
};

}  // namespace redial

#endif  // REDIAL_TESTING_VIRTUAL_TIME_H_
