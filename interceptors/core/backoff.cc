#include "redial/core/backoff.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace redial {
namespace {

// What a delay is drawn from: a uniform draw from [low, high], cut at `cap`.
// All delay arithmetic happens here, so that BackoffDelay and BackoffRange
// cannot disagree.
struct Draw {
  absl::Duration low;
  absl::Duration high;
  absl::Duration cap;
};

absl::Duration LongestFinite() {
  return absl::Seconds(std::numeric_limits<int64_t>::max());
}

absl::Duration Clamp(absl::Duration delay, absl::Duration high) {
  return std::max(absl::ZeroDuration(), std::min(delay, high));
}

absl::Duration CapOf(const BackoffPolicy& policy) {
  return Clamp(policy.max, LongestFinite());
}

absl::Duration Exponential(absl::Duration base, absl::Duration cap,
                           double multiplier, int64_t retries) {
  base = Clamp(base, cap);
  if (base == absl::ZeroDuration() || retries <= 0) return base;
  // Also false for NaN. Config refuses such a multiplier; should one come here,
  // waiting too long does less harm than not waiting.
  if (!(multiplier > 0)) return cap;
  const double factor = std::pow(multiplier, static_cast<double>(retries));
  if (!(factor < absl::FDivDuration(cap, base))) return cap;
  return Clamp(base * factor, cap);
}

Draw DrawOf(const BackoffPolicy& policy, int64_t retries,
            absl::Duration previous) {
  const absl::Duration longest = LongestFinite();
  const absl::Duration cap = CapOf(policy);
  const absl::Duration base = Clamp(policy.base, cap);
  const absl::Duration c = CappedExponential(policy, retries);
  switch (policy.form) {
    case BackoffForm::kProportional: {
      const double jitter =
          policy.jitter > 0 ? std::min(policy.jitter, 1.0) : 0.0;
      return {c * (1 - jitter), Clamp(c * (1 + jitter), longest), longest};
    }
    case BackoffForm::kFull:
      return {absl::ZeroDuration(), c, cap};
    case BackoffForm::kEqual:
      return {c / 2, c, cap};
    case BackoffForm::kAdditive: {
      const absl::Duration low = Exponential(base, cap, 2.0, retries);
      return {low, Clamp(low + base, longest), cap};
    }
    case BackoffForm::kUpTo:
      return {c, Clamp(c + c / 4, longest), longest};
    case BackoffForm::kDecorrelated:
      // Without a previous delay it counts as one of `base`: the first delay
      // must spread as well.
      return {base, Clamp(3 * std::max(previous, base), longest), cap};
  }
  return {absl::ZeroDuration(), c, cap};
}

}  // namespace

absl::Duration CappedExponential(const BackoffPolicy& policy, int64_t retries) {
  return Exponential(policy.base, CapOf(policy), policy.multiplier, retries);
}

absl::Duration BackoffDelay(const BackoffPolicy& policy, int64_t retries,
                            absl::Duration previous, RandomSource& random) {
  if (policy.custom) {
    constexpr int64_t kLastRetry = std::numeric_limits<int>::max();
    const int64_t retry =
        std::min(std::max<int64_t>(retries, 0), kLastRetry - 1) + 1;
    return Clamp(policy.custom(static_cast<int>(retry), random), CapOf(policy));
  }
  const Draw draw = DrawOf(policy, retries, previous);
  const absl::Duration delay =
      draw.low + (draw.high - draw.low) * random.NextFraction();
  return Clamp(std::min(delay, draw.high), draw.cap);
}

DelayRange BackoffRange(const BackoffPolicy& policy, int64_t retries,
                        absl::Duration previous_high) {
  if (policy.custom) return {absl::ZeroDuration(), CapOf(policy)};
  const Draw draw = DrawOf(policy, retries, previous_high);
  return {Clamp(draw.low, draw.cap), Clamp(draw.high, draw.cap)};
}

}  // namespace redial
