// RandomSource: where jitter and generated keys get their randomness.
//
// Randomness is a parameter of everything in core, so that a test can fix it.
// SharedRandom() is what the adapters pass in production.
#ifndef REDIAL_CORE_RANDOM_SOURCE_H_
#define REDIAL_CORE_RANDOM_SOURCE_H_

#include <cstdint>

namespace redial {

class RandomSource {
 public:
  virtual ~RandomSource() = default;

  // 64 uniformly distributed bits. Implementations that several calls share
  // must be thread-safe.
  virtual uint64_t NextBits() = 0;

  // Uniform in [0, 1).
  double NextFraction();
};

// The process's source: thread-safe without a lock (a generator per thread,
// seeded by the operating system), and different in a forked child.
RandomSource& SharedRandom();

}  // namespace redial

#endif  // REDIAL_CORE_RANDOM_SOURCE_H_
