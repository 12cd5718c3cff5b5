#include "redial/core/throttle.h"

#include <algorithm>

namespace redial {
namespace {

constexpr int64_t kMilliToken = 1000;
// A million tokens; A6 allows a thousand. Two of these multiply without
// overflow.
constexpr int64_t kMaxMilliTokens = 1000000 * kMilliToken;

int64_t Bounded(int64_t milli_tokens) {
  return std::max<int64_t>(0, std::min(milli_tokens, kMaxMilliTokens));
}

// More than half full (A6).
bool IsAboveHalf(int64_t milli_tokens, int64_t max_milli_tokens) {
  return milli_tokens > max_milli_tokens - milli_tokens;
}

// Applies `change` (int64_t -> int64_t) to `tokens` and returns the new value.
template <typename Change>
int64_t Update(std::atomic<int64_t>& tokens, Change change) {
  int64_t before = tokens.load();
  for (;;) {
    const int64_t after = change(before);
    // A full bucket stays full: no write, so calls that succeed do not fight
    // for the cache line.
    if (after == before) return after;
    if (tokens.compare_exchange_weak(before, after)) return after;
  }
}

}  // namespace

RetryThrottle::RetryThrottle(const ThrottleParameters& parameters)
    : max_milli_tokens_(Bounded(parameters.max_milli_tokens)),
      milli_token_ratio_(Bounded(parameters.milli_token_ratio)),
      milli_tokens_(Bounded(parameters.max_milli_tokens)) {}

// The maximum is read after the tokens: tokens that Reconfigure has scaled up
// are never cut at the maximum before it.
void RetryThrottle::RecordSuccess() {
  const int64_t ratio = milli_token_ratio_.load();
  Update(milli_tokens_, [this, ratio](int64_t tokens) {
    return std::min(max_milli_tokens_.load(), tokens + ratio);
  });
}

bool RetryThrottle::RecordFailure() {
  const int64_t left = Update(milli_tokens_, [this](int64_t tokens) {
    return std::max<int64_t>(
        0, std::min(tokens, max_milli_tokens_.load()) - kMilliToken);
  });
  return IsAboveHalf(left, max_milli_tokens_.load());
}

bool RetryThrottle::Allows() const {
  return IsAboveHalf(milli_tokens_.load(), max_milli_tokens_.load());
}

void RetryThrottle::Reconfigure(const ThrottleParameters& parameters) {
  std::lock_guard<std::mutex> lock(reconfigure_mu_);
  const int64_t old_max = max_milli_tokens_.load();
  const int64_t new_max = Bounded(parameters.max_milli_tokens);
  milli_token_ratio_.store(Bounded(parameters.milli_token_ratio));
  const auto scale = [=](int64_t tokens) {
    if (old_max == 0) return new_max;
    return std::min(new_max, std::min(tokens, old_max) * new_max / old_max);
  };
  // Calls go on meanwhile. The larger maximum holds while the tokens are
  // moved: under the smaller one a success would cut them.
  if (new_max > old_max) max_milli_tokens_.store(new_max);
  if (new_max != old_max) Update(milli_tokens_, scale);
  max_milli_tokens_.store(new_max);
}

int64_t RetryThrottle::milli_tokens() const {
  return std::min(milli_tokens_.load(), max_milli_tokens_.load());
}

ThrottleParameters RetryThrottle::parameters() const {
  ThrottleParameters parameters;
  parameters.max_milli_tokens = max_milli_tokens_.load();
  parameters.milli_token_ratio = milli_token_ratio_.load();
  return parameters;
}

std::shared_ptr<RetryThrottle> ThrottleRegistry::Get(
    absl::string_view server_name, const ThrottleParameters& parameters) {
  std::lock_guard<std::mutex> lock(mu_);
  const auto found = by_name_.find(server_name);
  if (found == by_name_.end()) {
    auto throttle = std::make_shared<RetryThrottle>(parameters);
    by_name_.emplace(std::string(server_name), throttle);
    return throttle;
  }
  if (!(found->second->parameters() == parameters)) {
    found->second->Reconfigure(parameters);
  }
  return found->second;
}

ThrottleRegistry& ThrottleRegistry::Process() {
  static ThrottleRegistry* const registry = new ThrottleRegistry;
  return *registry;
}

}  // namespace redial
