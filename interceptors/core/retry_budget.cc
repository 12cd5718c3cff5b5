#include "redial/core/retry_budget.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace redial {
namespace {

constexpr int64_t kMillion = 1000000;
// Bounds that keep every sum below far from overflow: a reserve or a slot of
// 10^11 retries, a ratio of a thousand retries per call.
constexpr int64_t kMaxMillionths = int64_t{100000} * kMillion * kMillion;
constexpr int64_t kMaxRatioMillionths = 1000 * kMillion;
constexpr int64_t kMaxSlotIndex = std::numeric_limits<int64_t>::max() / 4;

int64_t Clamp(int64_t value, int64_t low, int64_t high) {
  return std::max(low, std::min(value, high));
}

// Per second times seconds: counted in microseconds, that is in millionths.
int64_t ReserveMillionths(const WindowedRetryBudget::Parameters& parameters) {
  const absl::Duration retries =
      parameters.ttl * std::max<int64_t>(parameters.min_retries_per_second, 0);
  return Clamp(absl::ToInt64Microseconds(retries), 0, kMaxMillionths);
}

// "20%", "12.5%", exactly.
std::string Percent(int64_t millionths) {
  std::string text =
      absl::StrFormat("%d.%04d", millionths / 10000, millionths % 10000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return absl::StrCat(text, "%");
}

template <typename Parameters>
Parameters WithBoundedRatio(Parameters parameters) {
  parameters.ratio_millionths =
      Clamp(parameters.ratio_millionths, 0, kMaxRatioMillionths);
  return parameters;
}

}  // namespace

WindowedRetryBudget::WindowedRetryBudget(const Parameters& parameters)
    : parameters_(WithBoundedRatio(parameters)),
      slot_length_(std::max(parameters.ttl / kSlots, absl::Nanoseconds(1))),
      reserve_millionths_(ReserveMillionths(parameters)) {}

void WindowedRetryBudget::CallEnded(bool answered_well, Instant now) {
  if (!answered_well) return;
  std::lock_guard<std::mutex> lock(mu_);
  Advance(now);
  slots_[0] =
      std::min(slots_[0] + parameters_.ratio_millionths, kMaxMillionths);
}

bool WindowedRetryBudget::TryWithdraw(Instant now) {
  std::lock_guard<std::mutex> lock(mu_);
  Advance(now);
  if (Balance() < kMillion) return false;
  slots_[0] -= kMillion;
  return true;
}

int64_t WindowedRetryBudget::BalanceMillionths(Instant now) {
  std::lock_guard<std::mutex> lock(mu_);
  Advance(now);
  return std::max<int64_t>(Balance(), 0);
}

// slots_[0] is the current slot.
void WindowedRetryBudget::Advance(Instant now) {
  const int64_t index =
      Clamp(now.since_epoch() / slot_length_, -kMaxSlotIndex, kMaxSlotIndex);
  const int64_t steps = started_ ? index - slot_index_ : 0;
  // Threads arrive with their times a little out of order: that is no step
  // back. By more than a window it is another clock, which goes on from here.
  if (steps < 0 && steps >= -kSlots) return;
  started_ = true;
  slot_index_ = index;
  if (steps <= 0) return;
  const int64_t shift = std::min<int64_t>(steps, kSlots);
  std::copy_backward(slots_.begin(), slots_.end() - shift, slots_.end());
  std::fill_n(slots_.begin(), shift, 0);
}

// Below zero where what paid for a retry went out of the window before it.
int64_t WindowedRetryBudget::Balance() const {
  int64_t balance = reserve_millionths_;
  for (const int64_t slot : slots_) balance += slot;
  return balance;
}

std::string WindowedRetryBudget::Describe() const {
  return absl::StrCat("retries: ", Percent(parameters_.ratio_millionths),
                      " of the calls of the last ",
                      absl::FormatDuration(parameters_.ttl), " and ",
                      std::max<int64_t>(parameters_.min_retries_per_second, 0),
                      " per second");
}

void InFlightRetryBudget::CallStarted(Instant) { active_.fetch_add(1); }

void InFlightRetryBudget::CallEnded(bool, Instant) { active_.fetch_sub(1); }

bool InFlightRetryBudget::TryWithdraw(Instant) {
  const int64_t ratio =
      Clamp(parameters_.ratio_millionths, 0, kMaxRatioMillionths);
  int64_t retrying = retrying_.load();
  do {
    const int64_t active = std::max<int64_t>(active_.load(), 0);
    // floor(active * ratio), without the product of large numbers.
    const int64_t share =
        active / kMillion * ratio + active % kMillion * ratio / kMillion;
    if (retrying >= std::max(parameters_.min_retries, share)) return false;
  } while (!retrying_.compare_exchange_weak(retrying, retrying + 1));
  return true;
}

void InFlightRetryBudget::RetryEnded() { retrying_.fetch_sub(1); }

std::string InFlightRetryBudget::Describe() const {
  return absl::StrCat(
      "retries: at most ",
      Percent(Clamp(parameters_.ratio_millionths, 0, kMaxRatioMillionths)),
      " of the calls in progress, at least ",
      std::max<int64_t>(parameters_.min_retries, 0));
}

}  // namespace redial
