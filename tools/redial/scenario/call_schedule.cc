#include "tools/redial/scenario/call_schedule.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"

namespace redial {

CallSchedule::CallSchedule(const Scenario& scenario,
                           std::function<void(size_t)> call)
    : scenario_(scenario),
      call_(std::move(call)),
      entries_(scenario.calls.size()) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].left = scenario.calls[i].repeat;
  }
}

std::chrono::steady_clock::time_point CallSchedule::DueAt(size_t i) const {
  // Later than anybody waits, and still within the clock.
  const absl::Duration after =
      std::min(*scenario_.calls[i].start_after, absl::Hours(24 * 365));
  return start_ +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             absl::ToChronoNanoseconds(after));
}

void CallSchedule::Begin(size_t i) {
  Entry& entry = entries_[i];
  entry.begun = true;
  entry.running = std::min(entry.left, scenario_.calls[i].concurrency);
  for (int lane = 0; lane < entry.running; ++lane) {
    entry.threads.emplace_back([this, i] { Lane(i); });
  }
}

void CallSchedule::BeginDue() {
  const auto now = std::chrono::steady_clock::now();
  bool all_over = true;  // all before the one that is looked at
  for (size_t i = 0; i < entries_.size(); ++i) {
    const bool due =
        scenario_.calls[i].start_after.has_value() ? now >= DueAt(i) : all_over;
    if (!entries_[i].begun && due) Begin(i);
    all_over = all_over && entries_[i].over;
  }
}

void CallSchedule::Lane(size_t i) {
  Entry& entry = entries_[i];
  std::unique_lock<std::mutex> lock(mu_);
  while (entry.left > 0) {
    --entry.left;
    lock.unlock();
    call_(i);
    lock.lock();
  }
  if (--entry.running == 0) {
    entry.over = true;
    changed_.notify_all();
  }
}

void CallSchedule::Run() {
  start_ = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mu_);
  while (true) {
    BeginDue();
    std::vector<std::thread> ended;
    auto next = std::chrono::steady_clock::time_point::max();
    bool all_over = true;
    for (size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
      all_over = all_over && entry.over;
      if (entry.over) {
        for (std::thread& thread : entry.threads) {
          ended.push_back(std::move(thread));
        }
        entry.threads.clear();
      }
      if (!entry.begun && scenario_.calls[i].start_after.has_value()) {
        next = std::min(next, DueAt(i));
      }
    }
    lock.unlock();
    for (std::thread& thread : ended) thread.join();
    if (all_over) return;
    lock.lock();
    const auto woken = [this] {
      return std::any_of(entries_.begin(), entries_.end(),
                         [](const Entry& entry) {
                           return entry.over && !entry.threads.empty();
                         });
    };
    if (next == std::chrono::steady_clock::time_point::max()) {
      changed_.wait(lock, woken);
    } else {
      changed_.wait_until(lock, next, woken);
    }
  }
}

}  // namespace redial
