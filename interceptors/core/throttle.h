// RetryThrottle: the token bucket of gRFC A6 (features 4.2).
//
// One throttle per server name, shared by every channel of the process to that
// name. A failure takes one token, a success gives tokenRatio back; while the
// tokens are at most half of maxTokens nothing is retried. Thread-safe and lock
// free.
#ifndef REDIAL_CORE_THROTTLE_H_
#define REDIAL_CORE_THROTTLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "redial/core/policy.h"

namespace redial {

class RetryThrottle {
 public:
  // Starts full.
  explicit RetryThrottle(const ThrottleParameters& parameters);

  void RecordSuccess();
  // Takes one token and says whether a retry is allowed afterwards.
  bool RecordFailure();
  // Whether a retry is allowed now.
  bool Allows() const;

  // New parameters; the fraction that was filled stays (A6).
  void Reconfigure(const ThrottleParameters& parameters);

  int64_t milli_tokens() const;
  ThrottleParameters parameters() const;

 private:
  // Serializes Reconfigure only. RecordSuccess and RecordFailure read the
  // parameters and move the tokens without it.
  std::mutex reconfigure_mu_;
  std::atomic<int64_t> max_milli_tokens_;
  std::atomic<int64_t> milli_token_ratio_;
  std::atomic<int64_t> milli_tokens_;
};

// The throttles of a process, by server name. Thread-safe.
class ThrottleRegistry {
 public:
  // The throttle of `server_name`, made or reconfigured to `parameters`.
  std::shared_ptr<RetryThrottle> Get(absl::string_view server_name,
                                     const ThrottleParameters& parameters);

  // The registry that adapters use unless given another. Never destroyed.
  static ThrottleRegistry& Process();

 private:
  std::mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<RetryThrottle>> by_name_;
};

}  // namespace redial

#endif  // REDIAL_CORE_THROTTLE_H_
