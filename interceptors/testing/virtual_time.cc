#include "redial/testing/virtual_time.h"

#include <algorithm>

namespace redial {

VirtualTime::Event VirtualTime::At(Instant when, std::function<void()> what) {
  if (when.is_infinite()) return Event();
  const Event event{std::max(when, now_), ++sequence_};
  events_.emplace(std::make_pair(event.at, event.sequence), std::move(what));
  return event;
}

void VirtualTime::Cancel(const Event& event) {
  events_.erase(std::make_pair(event.at, event.sequence));
}

bool VirtualTime::RunNext() {
  if (events_.empty()) return false;
  auto next = events_.begin();
  now_ = next->first.first;
  const std::function<void()> what = std::move(next->second);
  events_.erase(next);
  what();
  return true;
}

bool VirtualTime::Run(size_t limit) {
  for (; limit > 0; --limit) {
    if (!RunNext()) return true;
  }
  return events_.empty();
}

}  // namespace redial
