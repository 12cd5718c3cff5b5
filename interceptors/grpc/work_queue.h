// WorkQueue: events from many threads, handled one at a time with no lock held.
//
// There is no thread: whoever finds the queue idle works it off, and everybody
// else adds an event and goes. Nearly always the queue is idle, and then an
// event is not even stored. A thread that must not work leaves its event for
// whoever works next.
//
//   if (queue.TryBegin()) {            // idle: we work now
//     Handle(event);
//     if (queue.Done(1)) WorkOff();    // others added something
//   } else if (queue.Add(event)) {     // idle after all: we work
//     WorkOff();
//   }
//   void WorkOff() {
//     size_t added = 0;
//     do {
//       for (auto& event : queue.Take(&added)) Handle(event);
//     } while (queue.Done(added));
//   }
#ifndef REDIAL_GRPC_WORK_QUEUE_H_
#define REDIAL_GRPC_WORK_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace redial {

template <typename Event>
class WorkQueue {
 public:
  // True where the queue was idle and nothing was left: the caller handles its
  // event itself, then calls Done(1).
  bool TryBegin() {
    size_t idle = 0;
    return !any_left_.load() && unhandled_.compare_exchange_strong(idle, 1);
  }

  // True where the queue was idle: the caller has to work off.
  bool Add(Event event) {
    const std::lock_guard<std::mutex> lock(mu_);
    added_.push_back(std::move(event));
    return unhandled_.fetch_add(1) == 0;
  }

  // For whoever works next, before what is added from now on.
  void Leave(Event event) {
    const std::lock_guard<std::mutex> lock(mu_);
    left_.push_back(std::move(event));
    any_left_.store(true);
  }

  // For who works: what was left and added, in this order; `added` is how much
  // of it was added.
  std::vector<Event> Take(size_t* added) {
    std::vector<Event> events;
    const std::lock_guard<std::mutex> lock(mu_);
    events.swap(left_);
    any_left_.store(false);
    *added = added_.size();
    std::move(added_.begin(), added_.end(), std::back_inserter(events));
    added_.clear();
    return events;
  }

  // For who works: so many events that were added (or begun) are handled. False
  // where that was all: the queue is idle again, and somebody else may be
  // working already.
  bool Done(size_t handled) { return unhandled_.fetch_sub(handled) != handled; }

 private:
  // Goes up under mu_ together with added_, so that what is counted and not in
  // hand is in added_.
  std::atomic<size_t> unhandled_{0};
  std::atomic<bool> any_left_{false};
  std::mutex mu_;
  std::vector<Event> added_;  // needs mu_
  std::vector<Event> left_;   // needs mu_
};

}  // namespace redial

#endif  // REDIAL_GRPC_WORK_QUEUE_H_
