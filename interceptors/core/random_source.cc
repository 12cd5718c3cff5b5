#include "redial/core/random_source.h"

#include <unistd.h>

#include <random>

#include "absl/random/random.h"

namespace redial {
namespace {

// Not absl's own seed: it comes from a pool of the process, which a forked
// child inherits, so that all children of one parent would draw the same.
absl::BitGen SeededBySystem() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device(),
                     device(), device(), device(), device()};
  return absl::BitGen(seed);
}

struct SeededGenerator {
  pid_t owner = getpid();
  absl::BitGen bits = SeededBySystem();
};

class ThreadLocalRandom final : public RandomSource {
 public:
  uint64_t NextBits() override {
    thread_local SeededGenerator generator;
    // A forked child inherits the parent's generator state; two processes must
    // not draw the same jitter nor the same keys.
    if (generator.owner != getpid()) generator = SeededGenerator();
    return generator.bits();
  }
};

}  // namespace

double RandomSource::NextFraction() {
  // 53 bits: every double in [0, 1) of that spacing is equally likely.
  return static_cast<double>(NextBits() >> 11) * 0x1.0p-53;
}

RandomSource &SharedRandom() {
  // Never destroyed: a call may still draw while static objects go away.
  static ThreadLocalRandom *const source = new ThreadLocalRandom;
  return *source;
}

}  // namespace redial
