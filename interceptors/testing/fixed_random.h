// FixedRandom and SeededRandom: randomness that a test can rely on.
//
// FixedRandom gives the fractions it was made with; SeededRandom gives a
// sequence that depends on nothing but its seed, on every platform. Both are
// thread-safe, and both fit wherever a RandomSource is asked for.
//
//   FixedRandom half(0.5);                 // 0.5 for ever
//   FixedRandom script({0.0, 0.25, 0.9});  // in this order, the last repeats
//   SeededRandom random(42);
#ifndef REDIAL_TESTING_FIXED_RANDOM_H_
#define REDIAL_TESTING_FIXED_RANDOM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "redial/core/random_source.h"

namespace redial {

class FixedRandom final : public RandomSource {
 public:
  // Fractions are in [0, 1); what lies outside is taken as the nearest value
  // inside. NextFraction() gives them back up to 2^-53.
  explicit FixedRandom(double fraction) : FixedRandom({fraction}) {}
  FixedRandom(std::initializer_list<double> fractions);
  explicit FixedRandom(const std::vector<double>& fractions);

  uint64_t NextBits() override;

  // How many values were taken.
  size_t draws() const { return next_.load(); }

 private:
  std::vector<uint64_t> bits_;  // never empty
  std::atomic<size_t> next_{0};
};

// SplitMix64. Fit for jitter in tests, not for secrets.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}

  uint64_t NextBits() override;

 private:
  std::atomic<uint64_t> state_;
};

}  // namespace redial

#endif  // REDIAL_TESTING_FIXED_RANDOM_H_
