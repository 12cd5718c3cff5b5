#include "redial/grpc/scoped_call_options.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace redial {
namespace {

// How many are pending in the process. Read without the lock: where there are
// none, calls do not take it.
std::atomic<int> pending_count{0};

struct Registry {
  std::mutex mu;
  absl::flat_hash_map<const grpc::ClientContext*, PendingCallOptions> pending;
};

Registry& Pending() {
  static Registry* const registry = new Registry;
  return *registry;
}

}  // namespace

ScopedCallOptions::ScopedCallOptions(const grpc::ClientContext& context,
                                     CallOptions options, CallReport* report)
    : context_(&context) {
  Registry& registry = Pending();
  const std::lock_guard<std::mutex> lock(registry.mu);
  registry.pending[context_] = PendingCallOptions{std::move(options), report};
  pending_count.store(static_cast<int>(registry.pending.size()));
}

ScopedCallOptions::~ScopedCallOptions() { TakeCallOptions(context_); }

absl::optional<PendingCallOptions> TakeCallOptions(
    const grpc::ClientContext* context) {
  if (pending_count.load() == 0) return absl::nullopt;
  Registry& registry = Pending();
  const std::lock_guard<std::mutex> lock(registry.mu);
  const auto found = registry.pending.find(context);
  if (found == registry.pending.end()) return absl::nullopt;
  absl::optional<PendingCallOptions> taken(std::move(found->second));
  registry.pending.erase(found);
  pending_count.store(static_cast<int>(registry.pending.size()));
  return taken;
}

}  // namespace redial
