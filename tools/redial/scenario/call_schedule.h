// CallSchedule: makes the calls of a scenario in real time.
//
// Entries one after another or at their own time, repeats one after another on
// as many threads as the entry's concurrency says. What a call is, the owner
// says.
//
//   CallSchedule schedule(scenario, [&](size_t entry) { ... });
//   schedule.Run();
#ifndef TOOLS_REDIAL_SCENARIO_CALL_SCHEDULE_H_
#define TOOLS_REDIAL_SCENARIO_CALL_SCHEDULE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/redial/scenario/scenario.h"

namespace redial {

class CallSchedule {
 public:
  // `call` makes one call of an entry, on any of the schedule's threads.
  CallSchedule(const Scenario& scenario, std::function<void(size_t)> call);

  // Returns when all calls are over. Time counts from here.
  void Run();

 private:
  struct Entry {
    bool begun = false;
    bool over = false;
    int left = 0;     // repeats that have not begun
    int running = 0;  // threads
    std::vector<std::thread> threads;
  };

  void BeginDue();       // needs mu_
  void Begin(size_t i);  // needs mu_
  std::chrono::steady_clock::time_point DueAt(size_t i) const;
  void Lane(size_t i);

  const Scenario& scenario_;
  const std::function<void(size_t)> call_;
  std::chrono::steady_clock::time_point start_;

  std::mutex mu_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
};

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_CALL_SCHEDULE_H_
