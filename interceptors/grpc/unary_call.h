// UnaryCall: the driver of one unary call. It maps, starts, waits and cancels;
// the machine decides.
//
// Native first: the first attempt is the application's own call. When it failed
// in a way worth retrying, its last batch is held (Proceed is not called),
// child attempts are made, and the answer of the deciding attempt is written
// into the held batch. Owned: the call is hijacked before it is sent and every
// attempt is a child.
//
// Events come from many threads: gRPC's, timers', the canceller's. They are
// queued, and whoever finds the queue idle works it off, one event at a time
// and with no lock held: Proceed, TryCancel, observers and user code never run
// under a lock. The interceptor shell, timers and children's callbacks hold
// references.
#ifndef REDIAL_GRPC_UNARY_CALL_H_
#define REDIAL_GRPC_UNARY_CALL_H_

#include <grpcpp/support/client_interceptor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "redial/core/call_machine.h"
#include "redial/core/call_options.h"
#include "redial/core/call_report.h"
#include "redial/core/inherited_deadline.h"
#include "redial/core/retry_machine.h"
#include "redial/grpc/channel_runtime.h"
#include "redial/grpc/child_attempt.h"
#include "redial/grpc/parent_watch.h"
#include "redial/grpc/scoped_call_options.h"
#include "redial/grpc/timer.h"

namespace redial {

class UnaryCall : public std::enable_shared_from_this<UnaryCall> {
 public:
  UnaryCall(std::shared_ptr<ChannelRuntime> runtime,
            std::shared_ptr<const MethodEntry> entry,
            absl::optional<PendingCallOptions> options,
            const InheritedDeadline* inherited, bool interceptors_behind,
            grpc::experimental::ClientRpcInfo* info);
  ~UnaryCall();

  UnaryCall(const UnaryCall&) = delete;
  UnaryCall& operator=(const UnaryCall&) = delete;

  // Every hook of the call, on whatever thread gRPC runs it.
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods);

  // Ends the call from outside. Not from within a hook.
  void End(EndCause cause);

  // The ClientContext goes away, and with it what was received.
  void Detach();
  bool detached() const { return detached_.load(std::memory_order_acquire); }

 private:
  using Batch = grpc::experimental::InterceptorBatchMethods;

  struct Event {
    enum class Kind {
      kStart,
      kNativeDone,
      kStatusBatch,     // owned: the batch that takes the answer is here
      kInitialBatch,    // owned: a batch that takes initial metadata alone
      kInitialExpired,  // owned: nobody may be kept waiting for that one
      kChildDone,
      kWake,
      kEnd,
    };
    Kind kind = Kind::kEnd;
    Batch* batch = nullptr;
    const ChildAttempt* child = nullptr;
    grpc::Status status;
    int wait_number = 0;
    EndCause cause = EndCause::kCaller;
  };

  static Event MakeEvent(Event::Kind kind, Batch* batch);

  // The queue (see above).
  void Post(Event event);
  void WorkOff();
  void Kick();
  void Handle(Event* event);

  // Events.
  void OnCallerCancel();
  void OnStart(Batch* batch);
  void OnStatusBatch(Batch* batch);
  void OnInitialBatch(Batch* batch);
  void OnInitialExpired();
  void OnNativeDone(Batch* batch);
  void OnChildDone(const ChildAttempt* child, const grpc::Status& status);
  void OnWake(int wait_number);
  void OnEnd(EndCause cause);

  // Actions.
  void Perform(CallMachine::Actions* actions);
  void Do(const StartAttempt& start);
  void Do(const WaitUntil& wait);
  void Do(const CancelAttempt& cancel);
  void Do(const Finish& finish);

  // Starting attempts.
  void PrepareMetadata();
  void KeepRequest(Batch* batch);
  bool NeedsOwnedFirst() const;
  void StartNative();
  void Hijack();
  void StartChild(const StartAttempt& start);
  Replay ReplayOfFailed();
  grpc_call* ServerCall() const;
  void NoticeParentCancel(const grpc::Status& status,
                          const grpc::ClientContext& context, Instant now,
                          CallMachine::Actions* actions);
  grpc::Status TimedOut() const;

  // Telling the caller.
  void Answer();
  bool ChildDecides() const;
  void FillNative();
  void FillOwned();
  void FillStatus(Batch* batch);
  void FillInitialMetadata(Batch* batch);
  void ObserveAttemptEnd();
  void ReportEnd();
  CallInfo Info() const;

  // Being known to the channel while redial holds the call open.
  void Hold();
  void Release();

  const std::shared_ptr<ChannelRuntime> runtime_;
  const std::shared_ptr<const MethodEntry> entry_;
  const absl::optional<PendingCallOptions> options_;
  // Valid as long as the ClientContext: until the caller was told.
  grpc::experimental::ClientRpcInfo* const info_;
  std::shared_ptr<void> inherited_server_call_;
  const bool interceptors_behind_;
  CallSetup setup_;  // moved into the machine at the start
  const Instant caller_deadline_;
  const Instant start_;

  std::atomic<bool> detached_{false};
  // The caller is being told: nothing is handled any more, and child_ belongs
  // to whoever destroys the ClientContext.
  std::atomic<bool> answered_{false};

  std::mutex mu_;
  bool working_ = false;         // needs mu_
  std::vector<Event> queue_;     // needs mu_
  std::unique_ptr<Timer> kick_;  // needs mu_

  // From here on: only the thread that works off the queue.
  absl::optional<RetryMachine> machine_;
  uint64_t call_id_ = 0;
  bool open_ = false;
  bool held_ = false;
  bool owned_ = false;
  absl::optional<EndCause> ended_early_;
  bool ended_by_caller_ = false;

  SendMetadata* live_metadata_ = nullptr;  // the context's own
  SendMetadata kept_metadata_;             // a copy, where others may add to it
  bool metadata_kept_ = false;
  std::string key_;
  grpc::ByteBuffer request_;
  Replay replay_ = Replay::kPossible;
  void* response_ = nullptr;

  Batch* start_batch_ = nullptr;    // while it runs its PRE stage
  Batch* status_batch_ = nullptr;   // held, to be answered
  Batch* initial_batch_ = nullptr;  // held, owned only
  std::unique_ptr<Timer> initial_timer_;

  absl::optional<StartAttempt> waiting_start_;  // for status_batch_
  std::unique_ptr<ChildAttempt> child_;         // in flight, or the last one
  grpc::Status child_status_;
  int child_number_ = 0;
  Instant attempt_limit_ = Instant::Infinite();
  absl::Duration attempt_timeout_ = absl::InfiniteDuration();
  bool attempt_limit_is_own_ = false;

  // The native attempt's limit.
  std::shared_ptr<std::atomic<bool>> native_timed_out_;
  std::unique_ptr<Timer> native_timer_;
  absl::optional<grpc::Status> native_override_;

  int wait_number_ = 0;
  std::unique_ptr<Timer> wait_timer_;
  std::unique_ptr<ParentWatch> parent_watch_;

  absl::optional<Finish> finish_;
  bool recv_failed_ = false;  // scratch of MarkMessageReceived
};

}  // namespace redial

#endif  // REDIAL_GRPC_UNARY_CALL_H_
