#include "redial/grpc/channel_runtime.h"

#include <grpc/support/log.h>
#include <grpcpp/channel.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "redial/grpc/unary_call.h"

namespace redial {
namespace {

// A proxy may call any number of methods: no more than these are remembered.
constexpr size_t kMaxRememberedMethods = 4096;

// `idempotency_level` of the method's descriptor, where the program links it.
Idempotency DescriptorIdempotency(absl::string_view method) {
  if (!method.empty() && method[0] == '/') method.remove_prefix(1);
  const google::protobuf::MethodDescriptor* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
          absl::StrReplaceAll(method, {{"/", "."}}));
  if (descriptor == nullptr) return Idempotency::kUnknown;
  switch (descriptor->options().idempotency_level()) {
    case google::protobuf::MethodOptions::NO_SIDE_EFFECTS:
      return Idempotency::kNoSideEffects;
    case google::protobuf::MethodOptions::IDEMPOTENT:
      return Idempotency::kIdempotent;
    default:
      return Idempotency::kUnknown;
  }
}

uint64_t NextRuntimeId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

ChannelRuntime::ChannelRuntime(std::string target,
                               std::shared_ptr<LivePolicy> policies,
                               const ChannelOptions& options)
    : id_(NextRuntimeId()),
      target_(std::move(target)),
      throttle_name_(options.throttle_name.empty() ? target_
                                                   : options.throttle_name),
      policies_(std::move(policies)),
      mode_(options.mode),
      codec_(options.codec != nullptr ? options.codec
                                      : ProtobufResponseCodec()),
      observer_(options.observer),
      random_(options.random != nullptr ? options.random : &SharedRandom()),
      key_generator_(options.key_generator) {}

std::shared_ptr<const MethodEntry> ChannelRuntime::MakeEntry(
    absl::string_view method) const {
  auto entry = std::make_shared<MethodEntry>();
  entry->method = std::string(method);
  entry->idempotency = DescriptorIdempotency(method);
  const std::shared_ptr<const PolicyTable> table = policies_->Load();
  if (table == nullptr) return entry;
  const std::shared_ptr<const MethodPolicy>* policy = table->Find(method);
  if (policy == nullptr) return entry;
  entry->policy = *policy;
  if (table->throttle().has_value()) {
    entry->throttle =
        ThrottleRegistry::Process().Get(throttle_name_, *table->throttle());
  }
  return entry;
}

std::shared_ptr<const MethodEntry> ChannelRuntime::Find(
    absl::string_view method) {
  // A thread mostly calls the same method again.
  struct LastFound {
    uint64_t runtime_id = 0;
    uint64_t version = 0;
    std::shared_ptr<const MethodEntry> entry;
  };
  thread_local LastFound last;
  const uint64_t version = policies_->version();
  if (last.runtime_id != id_ || last.version != version ||
      last.entry->method != method) {
    last = {id_, version, FindShared(method, version)};
  }
  return last.entry;
}

std::shared_ptr<const MethodEntry> ChannelRuntime::FindShared(
    absl::string_view method, uint64_t version) {
  const std::lock_guard<std::mutex> lock(methods_mu_);
  if (version != methods_version_) {
    methods_.clear();
    methods_version_ = version;
  }
  const auto found = methods_.find(method);
  if (found != methods_.end()) return found->second;
  std::shared_ptr<const MethodEntry> entry = MakeEntry(method);
  if (methods_.size() < kMaxRememberedMethods) {
    methods_.emplace(entry->method, entry);
  }
  return entry;
}

bool ChannelRuntime::CoreRetries(grpc::ChannelInterface* channel) {
  enum { kUnknown, kNo, kYes };
  const int known = core_retries_.load(std::memory_order_relaxed);
  if (known != kUnknown) return known == kYes;
  const auto* real = dynamic_cast<grpc::Channel*>(channel);
  if (real == nullptr) return false;
  const std::string config = real->GetServiceConfigJSON();
  // The channel has none before its first resolution.
  if (config.empty()) return false;
  const bool retries = absl::StrContains(config, "\"retryPolicy\"");
  if (core_retries_.exchange(retries ? kYes : kNo) == kUnknown && retries) {
    gpr_log(GPR_ERROR,
            "redial: the service config in use on the channel to '%s' has a "
            "retryPolicy, so gRPC retries by itself; redial does not retry on "
            "this channel. Give the service config to redial alone.",
            target_.c_str());
  }
  return retries;
}

uint64_t ChannelRuntime::CallStarted() {
  // Before closed() is read: either a Close sees this call, or it is refused.
  open_calls_.fetch_add(1);
  return next_call_id_.fetch_add(1, std::memory_order_relaxed);
}

void ChannelRuntime::CallEnded() {
  if (open_calls_.fetch_sub(1) == 1 && idle_waiters_.load() > 0) {
    const std::lock_guard<std::mutex> lock(held_mu_);
    idle_.notify_all();
  }
}

void ChannelRuntime::Hold(const std::shared_ptr<UnaryCall>& call) {
  {
    const std::lock_guard<std::mutex> lock(held_mu_);
    held_.emplace(call.get(), call);
  }
  // A Close that came just before did not see this call.
  const absl::optional<EndCause> cause = closed();
  if (cause.has_value()) call->End(*cause);
}

void ChannelRuntime::Release(UnaryCall* call) {
  const std::lock_guard<std::mutex> lock(held_mu_);
  held_.erase(call);
}

void ChannelRuntime::Close(EndCause cause) {
  if (closed() == EndCause::kShutdown) cause = EndCause::kShutdown;
  std::vector<std::shared_ptr<UnaryCall>> calls;
  {
    const std::lock_guard<std::mutex> lock(held_mu_);
    closed_.store(static_cast<int>(cause));
    calls.reserve(held_.size());
    for (const auto& held : held_) {
      std::shared_ptr<UnaryCall> call = held.second.lock();
      if (call != nullptr) calls.push_back(std::move(call));
    }
  }
  for (const std::shared_ptr<UnaryCall>& call : calls) call->End(cause);
}

absl::optional<EndCause> ChannelRuntime::closed() const {
  const int cause = closed_.load();
  if (cause < 0) return absl::nullopt;
  return static_cast<EndCause>(cause);
}

bool ChannelRuntime::AwaitIdle(absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(held_mu_);
  idle_waiters_.fetch_add(1);
  const auto idle = [this] { return open_calls_.load() == 0; };
  // Long enough for anybody, and short enough for the arithmetic inside.
  const bool result = idle_.wait_for(
      lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24 * 365))),
      idle);
  idle_waiters_.fetch_sub(1);
  return result;
}

}  // namespace redial
