// Backoff: how long to wait before the next attempt when the server did not
// say (features 2.1, 2.2).
//
// BackoffPolicy is a value; BackoffDelay computes one delay. Nothing here keeps
// time. With n = retries done since the start or the last pushback and
// c = min(base * multiplier^n, max):
//
//   proportional  c * U(1-j, 1+j)        a gRPC retryPolicy (A6), j = 0.2
//   full          U(0, c)                the default everywhere else
//   equal         c/2 + U(0, c/2)
//   additive      min(base * 2^n + U(0, base), max)
//   upTo          c * U(1, 1.25)
//   decorrelated  min(max, U(base, 3 * previous)), previous at least base
#ifndef REDIAL_CORE_BACKOFF_H_
#define REDIAL_CORE_BACKOFF_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "redial/core/random_source.h"

namespace redial {

enum class BackoffForm {
  kProportional,
  kFull,
  kEqual,
  kAdditive,
  kUpTo,
  kDecorrelated,
};

struct BackoffPolicy {
  BackoffForm form = BackoffForm::kFull;
  // Both > 0 and finite; config refuses anything else.
  absl::Duration base = absl::Milliseconds(500);
  absl::Duration max = absl::Seconds(30);
  // > 0 and finite.
  double multiplier = 2.0;
  // j of `proportional`, in [0, 1].
  double jitter = 0.2;
  // Where set, it replaces all of the above: (retry, random) -> delay, with
  // retry = 1 before the second attempt. Runs on the adapter's threads, must
  // not block; negative or infinite results are taken as zero or as `max`.
  std::function<absl::Duration(int, RandomSource&)> custom;
};

// min(base * multiplier^retries, max), the delay before jitter. Never forms an
// uncapped product; finite and in [0, max] for every input.
absl::Duration CappedExponential(const BackoffPolicy& policy, int64_t retries);

// The delay before the next attempt.
//   retries   n above, 0 before the second attempt
//   previous  the delay that the previous call returned, 0 if none
// Never negative, never infinite, at most max * (1 + jitter) (max * 1.25 for
// upTo).
absl::Duration BackoffDelay(const BackoffPolicy& policy, int64_t retries,
                            absl::Duration previous, RandomSource& random);

// The smallest and largest delay that BackoffDelay can give (both ends are
// what `redial explain` prints). `previous_high` is the largest previous delay.
struct DelayRange {
  absl::Duration low;
  absl::Duration high;
};
DelayRange BackoffRange(const BackoffPolicy& policy, int64_t retries,
                        absl::Duration previous_high);

}  // namespace redial

#endif  // REDIAL_CORE_BACKOFF_H_
