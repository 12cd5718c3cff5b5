#include "redial/grpc/scoped_call_options.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace redial {
namespace {

struct Registry {
  // Read without the lock: where no options are pending anywhere, calls do not
  // take it.
  std::atomic<int> size{0};
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
  registry.size.store(static_cast<int>(registry.pending.size()));
}

ScopedCallOptions::~ScopedCallOptions() { TakeCallOptions(context_); }

absl::optional<PendingCallOptions> TakeCallOptions(
    const grpc::ClientContext* context) {
  Registry& registry = Pending();
  if (registry.size.load() == 0) return absl::nullopt;
  const std::lock_guard<std::mutex> lock(registry.mu);
  const auto found = registry.pending.find(context);
  if (found == registry.pending.end()) return absl::nullopt;
  absl::optional<PendingCallOptions> taken(std::move(found->second));
  registry.pending.erase(found);
  registry.size.store(static_cast<int>(registry.pending.size()));
  return taken;
}

}  // namespace redial
