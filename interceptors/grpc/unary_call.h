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
//
// The sources, in the order of a call: unary_call.cc (hooks and queue),
// unary_call_start.cc, unary_call_events.cc, unary_call_actions.cc,
// unary_call_answer.cc.
#ifndef REDIAL_GRPC_UNARY_CALL_H_
#define REDIAL_GRPC_UNARY_CALL_H_

#include <grpcpp/support/client_interceptor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
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
#include "redial/grpc/work_queue.h"

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

 private:
  using Batch = grpc::experimental::InterceptorBatchMethods;

  struct Event {
    enum class Kind {
      kStart,
      kNativeDone,
      kStatusBatch,     // owned: the batch that takes the answer is here
      kInitialBatch,    // owned: a batch that takes initial metadata alone
      kInitialExpired,  // owned: nobody may be kept waiting for that one
      kLaterBatch,  // any other, which came while the call was being started
      kKick,        // nothing by itself: what was left is to be handled
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
  void PostBatch(Event::Kind kind, Batch* batch);
  void Post(Event event);
  void WorkOff();
  void Handle(Event* event);
  void HandleBatch(Event::Kind kind, Batch* batch);

  // Events.
  void PassBatch(Batch* batch);
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
  void Do(Finish&& finish);

  // Starting attempts.
  CallSetup Setup();
  void PrepareMetadata(CallSetup* setup);
  absl::StatusOr<std::string> ChooseKey(
      const IdempotencyKeyPolicy& policy,
      const absl::optional<std::string>& wanted, bool in_metadata) const;
  void KeepRequest(Batch* batch);
  grpc::ByteBuffer KeptRequest() const;
  bool NeedsOwnedFirst() const;
  void StartNative();
  void Hijack();
  void StartChild();
  Replay ReplayOfFailed();
  grpc_call* ServerCall() const;
  void NoticeParentCancel(const grpc::Status& status,
                          const grpc::ClientContext& context, Instant now,
                          CallMachine::Actions* actions);
  // The attempt's limit is its own, not the call's.
  bool LimitIsOwn() const {
    return attempt_.timeout < absl::InfiniteDuration();
  }
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
  const std::unique_ptr<const PendingCallOptions> options_;  // null: none
  // Valid as long as the ClientContext: until the caller was told.
  grpc::experimental::ClientRpcInfo* const info_;
  Instant inherited_deadline_ = Instant::Infinite();
  std::shared_ptr<void> inherited_server_call_;
  const Instant start_;
  const Instant caller_deadline_;
  const bool interceptors_behind_;

  // The caller is being told: nothing is handled any more, and child_ belongs
  // to whoever destroys the ClientContext.
  std::atomic<bool> answered_{false};
  // It is known whether the call is owned.
  std::atomic<bool> started_{false};

  WorkQueue<Event> events_;
  std::unique_ptr<Timer> kick_;  // written under the context's lock

  // From here on: only the thread that works off the queue.
  absl::optional<RetryMachine> machine_;
  uint64_t call_id_ = 0;
  bool open_ = false;
  bool held_ = false;
  bool owned_first_ = false;  // wanted
  bool owned_ = false;        // done
  absl::optional<EndCause> ended_early_;
  bool ended_by_caller_ = false;

  SendMetadata* live_metadata_ = nullptr;  // the context's own
  SendMetadata kept_metadata_;             // a copy, where others may add to it
  std::string key_;
  grpc::Slice request_piece_;  // or, where it is in several,
  grpc::ByteBuffer request_;
  Replay replay_ = Replay::kPossible;
  bool metadata_kept_ = false;
  void* response_ = nullptr;

  Batch* start_batch_ = nullptr;    // while it runs its PRE stage
  Batch* status_batch_ = nullptr;   // held, to be answered
  Batch* initial_batch_ = nullptr;  // held, owned only
  std::unique_ptr<Timer> initial_timer_;

  StartAttempt attempt_;                 // in flight, or the last one
  std::unique_ptr<ChildAttempt> child_;  // in flight, or the last one
  std::unique_ptr<const grpc::Status> child_status_;  // when it has ended
  int child_number_ = 0;
  bool start_waits_ = false;  // for status_batch_

  // The native attempt's limit.
  std::shared_ptr<std::atomic<bool>> native_timed_out_;
  std::unique_ptr<Timer> native_timer_;
  std::unique_ptr<const grpc::Status> native_override_;

  int wait_number_ = 0;
  std::unique_ptr<Timer> wait_timer_;
  std::unique_ptr<ParentWatch> parent_watch_;

  absl::optional<Finish> finish_;
  bool recv_failed_ = false;  // scratch of MarkMessageReceived
};

}  // namespace redial

#endif  // REDIAL_GRPC_UNARY_CALL_H_
