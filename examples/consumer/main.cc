// Built in a workspace of its own, as a user of redial would.

#include <iostream>

#include "absl/time/time.h"
#include "redial/core/backoff.h"

int main() {
  redial::BackoffPolicy policy;
  policy.base = absl::Milliseconds(100);
  policy.max = absl::Seconds(1);
  for (int retries = 0; retries < 5; ++retries) {
    std::cout << redial::CappedExponential(policy, retries) << "\n";
  }
  return 0;
}
