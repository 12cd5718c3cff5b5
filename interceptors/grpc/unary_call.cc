#include "redial/grpc/unary_call.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "redial/grpc/batch_hooks.h"
#include "redial/grpc/grpc_clock.h"

namespace redial {

UnaryCall::UnaryCall(std::shared_ptr<ChannelRuntime> runtime,
                     std::shared_ptr<const MethodEntry> entry,
                     absl::optional<PendingCallOptions> options,
                     const InheritedDeadline* inherited,
                     bool interceptors_behind,
                     grpc::experimental::ClientRpcInfo* info)
    : runtime_(std::move(runtime)),
      entry_(std::move(entry)),
      options_(options.has_value() ? std::make_unique<const PendingCallOptions>(
                                         *std::move(options))
                                   : nullptr),
      info_(info),
      start_(GrpcNow()),
      caller_deadline_(
          InstantFromTimespec(info->client_context()->raw_deadline(), start_)),
      interceptors_behind_(interceptors_behind) {
  if (inherited != nullptr) {
    inherited_deadline_ = inherited->deadline;
    inherited_server_call_ = inherited->server_call;
  }
}

UnaryCall::~UnaryCall() {
  // A stub may be dropped before it asks for its answer.
  Release();
  if (open_) runtime_->CallEnded();
}

void UnaryCall::Detach() {
  // Not on gRPC's threads, which may still be leaving this call: the attempt's
  // context may hold the channel's last reference.
  if (answered_.load()) child_ = nullptr;
}

// ---- The queue. ----

void UnaryCall::PostBatch(Event::Kind kind, Batch* batch) {
  if (!events_.TryBegin()) return Post(MakeEvent(kind, batch));
  // The caller may delete its context, and with it the last other reference,
  // as soon as it is told.
  const std::shared_ptr<UnaryCall> self = shared_from_this();
  HandleBatch(kind, batch);
  if (events_.Done(1)) WorkOff();
}

void UnaryCall::Post(Event event) {
  if (events_.Add(std::move(event))) WorkOff();
}

void UnaryCall::WorkOff() {
  const std::shared_ptr<UnaryCall> self = shared_from_this();
  size_t added = 0;
  do {
    std::vector<Event> events = events_.Take(&added);
    for (Event& event : events) Handle(&event);
  } while (events_.Done(added));
}

void UnaryCall::Handle(Event* event) {
  if (event->batch != nullptr) return HandleBatch(event->kind, event->batch);
  if (answered_.load(std::memory_order_relaxed)) return;
  switch (event->kind) {
    case Event::Kind::kInitialExpired:
      return OnInitialExpired();
    case Event::Kind::kChildDone:
      return OnChildDone(event->child, event->status);
    case Event::Kind::kWake:
      return OnWake(event->wait_number);
    case Event::Kind::kEnd:
      return OnEnd(event->cause);
    default:
      return;
  }
}

void UnaryCall::HandleBatch(Event::Kind kind, Batch* batch) {
  if (answered_.load(std::memory_order_relaxed)) return batch->Proceed();
  switch (kind) {
    case Event::Kind::kStart:
      return OnStart(batch);
    case Event::Kind::kNativeDone:
      return OnNativeDone(batch);
    case Event::Kind::kStatusBatch:
      return OnStatusBatch(batch);
    case Event::Kind::kInitialBatch:
      return OnInitialBatch(batch);
    default:
      return PassBatch(batch);
  }
}

// ---- What gRPC tells. ----

void UnaryCall::Intercept(Batch* batch) {
  if (Has(batch, InterceptionHookPoints::PRE_SEND_CANCEL)) {
    return OnCallerCancel();
  }
  if (Has(batch, InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
    response_ = batch->GetRecvMessage();
    return PostBatch(Event::Kind::kStart, batch);
  }
  if (started_.load(std::memory_order_acquire) && !owned_) {
    return PassBatch(batch);
  }
  if (Has(batch, InterceptionHookPoints::PRE_RECV_STATUS)) {
    if (Has(batch, InterceptionHookPoints::PRE_RECV_MESSAGE)) {
      response_ = batch->GetRecvMessage();
    }
    return PostBatch(Event::Kind::kStatusBatch, batch);
  }
  if (Has(batch, InterceptionHookPoints::PRE_RECV_INITIAL_METADATA)) {
    return PostBatch(Event::Kind::kInitialBatch, batch);
  }
  // Another thread may be starting the call just now: whether it will be owned
  // is not known before that is over.
  if (!started_.load(std::memory_order_acquire)) {
    return PostBatch(Event::Kind::kLaterBatch, batch);
  }
  PassBatch(batch);
}

// The PRE stage of a later batch, or the POST stage of any.
void UnaryCall::PassBatch(Batch* batch) {
  if (!owned_) {
    if (Has(batch, InterceptionHookPoints::POST_RECV_STATUS)) {
      return PostBatch(Event::Kind::kNativeDone, batch);
    }
    if (!IsPostStage(batch) && batch->GetRecvMessage() != nullptr) {
      response_ = batch->GetRecvMessage();
    }
  }
  batch->Proceed();
}

void UnaryCall::OnCallerCancel() {
  // The canceller holds its context's lock: nothing may be done here that could
  // finish the call. Another thread works the event off.
  Event event = MakeEvent(Event::Kind::kEnd, nullptr);
  event.cause = EndCause::kCaller;
  events_.Leave(std::move(event));
  if (kick_ != nullptr) return;
  kick_ = std::make_unique<Timer>(start_, [self = shared_from_this()](bool) {
    self->Post(MakeEvent(Event::Kind::kKick, nullptr));
  });
}

void UnaryCall::End(EndCause cause) {
  Event event = MakeEvent(Event::Kind::kEnd, nullptr);
  event.cause = cause;
  Post(std::move(event));
}

UnaryCall::Event UnaryCall::MakeEvent(Event::Kind kind, Batch* batch) {
  Event event;
  event.kind = kind;
  event.batch = batch;
  return event;
}

CallInfo UnaryCall::Info() const {
  CallInfo info;
  info.call_id = call_id_;
  info.method = entry_->method;
  info.target = runtime_->target();
  return info;
}

void UnaryCall::ObserveAttemptEnd() {
  if (runtime_->observer() == nullptr) return;
  runtime_->observer()->OnAttemptEnd(Info(),
                                     machine_->ledger().attempts().back());
}

void UnaryCall::ReportEnd() {
  CallReport* const wanted = options_ != nullptr ? options_->report : nullptr;
  if (wanted == nullptr && runtime_->observer() == nullptr) return;
  CallReport report = machine_->Report(GrpcNow());
  report.method = entry_->method;
  report.idempotency_key = key_;
  if (runtime_->observer() != nullptr) {
    runtime_->observer()->OnCallEnd(Info(), report);
  }
  if (wanted != nullptr) *wanted = std::move(report);
}

void UnaryCall::Hold() {
  if (held_) return;
  held_ = true;
  runtime_->Hold(shared_from_this());
}

void UnaryCall::Release() {
  if (!held_) return;
  held_ = false;
  runtime_->Release(this);
}

}  // namespace redial
