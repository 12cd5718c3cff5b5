#include "redial/testing/fixed_random.h"

#include <algorithm>

namespace redial {
namespace {

uint64_t BitsOf(double fraction) {
  constexpr double kLargest = 1.0 - 0x1.0p-53;
  // The negation also catches NaN.
  const double inside = !(fraction > 0) ? 0 : std::min(fraction, kLargest);
  return static_cast<uint64_t>(inside * 0x1.0p53) << 11;
}

}  // namespace

FixedRandom::FixedRandom(std::initializer_list<double> fractions)
    : FixedRandom(std::vector<double>(fractions)) {}

FixedRandom::FixedRandom(const std::vector<double>& fractions) {
  for (double fraction : fractions) bits_.push_back(BitsOf(fraction));
  if (bits_.empty()) bits_.push_back(0);
}

uint64_t FixedRandom::NextBits() {
  return bits_[std::min(next_.fetch_add(1), bits_.size() - 1)];
}

uint64_t SeededRandom::NextBits() {
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  uint64_t z = state_.fetch_add(kStep) + kStep;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace redial
