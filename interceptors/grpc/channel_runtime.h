// ChannelRuntime: what all calls of one channel share.
//
// Finds the policy for a method, with the throttle of the channel's target and
// what the method's descriptor says, and keeps that per method until the policy
// changes. Knows the calls that redial holds open, so that they can be ended at
// shutdown. Thread-safe.
#ifndef REDIAL_GRPC_CHANNEL_RUNTIME_H_
#define REDIAL_GRPC_CHANNEL_RUNTIME_H_

#include <grpcpp/impl/codegen/channel_interface.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/call_machine.h"
#include "redial/core/call_observer.h"
#include "redial/core/idempotency.h"
#include "redial/core/policy_table.h"
#include "redial/core/random_source.h"
#include "redial/core/throttle.h"
#include "redial/grpc/channel_options.h"
#include "redial/grpc/response_codec.h"

namespace redial {

class UnaryCall;

// What is known of one method under one policy table.
struct MethodEntry {
  std::string method;
  // Keeps the table alive; null: no policy.
  std::shared_ptr<const MethodPolicy> policy;
  std::shared_ptr<RetryThrottle> throttle;
  Idempotency idempotency = Idempotency::kUnknown;
};

class ChannelRuntime {
 public:
  ChannelRuntime(std::string target, std::shared_ptr<LivePolicy> policies,
                 const ChannelOptions& options);

  // Never null.
  std::shared_ptr<const MethodEntry> Find(absl::string_view method);

  DriverMode mode() const { return mode_; }
  const std::shared_ptr<const ResponseCodec>& codec() const { return codec_; }
  CallObserver* observer() const { return observer_.get(); }
  RandomSource* random() const { return random_; }
  const std::string& target() const { return target_; }
  const std::function<std::string(RandomSource&)>& key_generator() const {
    return key_generator_;
  }

  // Whether core's own retries are armed on `channel`, by a service config that
  // somebody else put there. Kept once it is known; says so in the log.
  bool CoreRetries(grpc::ChannelInterface* channel);

  // Calls from their start to their end.
  uint64_t CallStarted();
  void CallEnded();
  // Calls that redial holds open: to be ended by Close.
  void Hold(const std::shared_ptr<UnaryCall>& call);
  void Release(UnaryCall* call);

  // kDrain or kShutdown; a shutdown may follow a drain. New calls are refused
  // from here on, waits end at once.
  void Close(EndCause cause);
  absl::optional<EndCause> closed() const;
  // Until no call is open; false where `timeout` passed first.
  bool AwaitIdle(absl::Duration timeout);

 private:
  using MethodMap =
      absl::flat_hash_map<std::string, std::shared_ptr<const MethodEntry>>;

  std::shared_ptr<const MethodEntry> FindShared(absl::string_view method,
                                                uint64_t version);
  std::shared_ptr<const MethodEntry> MakeEntry(absl::string_view method) const;

  const uint64_t id_;  // of this process, never given twice
  const std::string target_;
  const std::string throttle_name_;
  const std::shared_ptr<LivePolicy> policies_;
  const DriverMode mode_;
  const std::shared_ptr<const ResponseCodec> codec_;
  const std::shared_ptr<CallObserver> observer_;
  RandomSource* const random_;
  const std::function<std::string(RandomSource&)> key_generator_;

  std::mutex methods_mu_;
  uint64_t methods_version_ = 0;
  MethodMap methods_;

  std::atomic<int> core_retries_{0};  // unknown, no, yes

  std::atomic<int> closed_{-1};  // an EndCause, -1 while open
  std::atomic<uint64_t> next_call_id_{1};
  std::atomic<int64_t> open_calls_{0};
  std::mutex held_mu_;
  std::condition_variable idle_;
  std::atomic<int> idle_waiters_{0};
  absl::flat_hash_map<UnaryCall*, std::weak_ptr<UnaryCall>> held_;
};

}  // namespace redial

#endif  // REDIAL_GRPC_CHANNEL_RUNTIME_H_
