// PolicyTable: from a method name to its policy.
//
// Method matching is that of the gRPC service config: exact method, then
// service, then the default; entries are not merged. LivePolicy is the handle
// through which a table is exchanged while calls run (features 7.5).
#ifndef REDIAL_CORE_POLICY_TABLE_H_
#define REDIAL_CORE_POLICY_TABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/core/policy.h"

namespace redial {

class PolicyTable {
 public:
  PolicyTable() = default;

  // Builder, used before the table is shared. `service` empty: the default;
  // `method` empty: every method of the service. A null policy says that the
  // name has none: it hides what a more general entry would give. False if that
  // name is taken.
  bool Add(absl::string_view service, absl::string_view method,
           std::shared_ptr<const MethodPolicy> policy);
  void set_throttle(ThrottleParameters throttle) { throttle_ = throttle; }
  // The service config that remains for gRPC core: ours taken out.
  void set_core_config(std::string json) { core_config_ = std::move(json); }

  // The policy for "/pkg.Service/Method", null if there is none. One or two
  // hash lookups; thread-safe.
  const std::shared_ptr<const MethodPolicy>* Find(
      absl::string_view full_method) const;

  bool empty() const {
    return by_method_.empty() && by_service_.empty() && !has_default_;
  }
  const absl::optional<ThrottleParameters>& throttle() const {
    return throttle_;
  }
  const std::string& core_config() const { return core_config_; }

 private:
  using Map =
      absl::flat_hash_map<std::string, std::shared_ptr<const MethodPolicy>>;
  const std::shared_ptr<const MethodPolicy>* FindEntry(
      absl::string_view full_method) const;

  Map by_method_;   // "/pkg.Service/Method"
  Map by_service_;  // "/pkg.Service/"
  std::shared_ptr<const MethodPolicy> default_;
  bool has_default_ = false;
  absl::optional<ThrottleParameters> throttle_;
  std::string core_config_;
};

// Thread-safe. Calls in flight keep the table that they started with.
class LivePolicy {
 public:
  explicit LivePolicy(std::shared_ptr<const PolicyTable> table)
      : table_(std::move(table)) {}

  std::shared_ptr<const PolicyTable> Load() const {
    return std::atomic_load(&table_);
  }
  // What the next calls will use. A null table switches redial off.
  void Store(std::shared_ptr<const PolicyTable> table) {
    std::atomic_store(&table_, std::move(table));
    version_.fetch_add(1, std::memory_order_release);
  }
  // Goes up with each Store: lets a reader keep what it derived from a table.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  std::shared_ptr<const PolicyTable> table_;
  std::atomic<uint64_t> version_{1};
};

}  // namespace redial

#endif  // REDIAL_CORE_POLICY_TABLE_H_
