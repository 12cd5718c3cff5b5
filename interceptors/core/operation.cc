#include "redial/core/operation.h"

#include <algorithm>

namespace redial {

void Operation::CallStarted(Instant now) {
  int64_t not_started = -1;
  const int64_t start =
      std::max<int64_t>(absl::ToInt64Nanoseconds(now.since_epoch()), 0);
  started_ns_.compare_exchange_strong(not_started, start);
}

bool Operation::TryTake() {
  int64_t used = used_.load();
  do {
    if (used >= limits_.max_requests) return false;
  } while (!used_.compare_exchange_weak(used, used + 1));
  return true;
}

void Operation::GiveBack() { used_.fetch_sub(1); }

Instant Operation::window_end() const {
  const int64_t start = started_ns_.load();
  if (start < 0) return Instant::Infinite();
  return Instant::FromEpoch(absl::Nanoseconds(start)) + limits_.retry_window;
}

}  // namespace redial
