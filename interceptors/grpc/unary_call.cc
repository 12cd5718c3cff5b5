#include "redial/grpc/unary_call.h"

#include <grpc/grpc.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redial/core/idempotency.h"
#include "redial/grpc/deadline_scope.h"
#include "redial/grpc/grpc_clock.h"
#include "redial/grpc/grpc_outcome.h"
#include "redial/grpc/private_access.h"

namespace redial {
namespace {

using grpc::experimental::InterceptionHookPoints;

bool Has(grpc::experimental::InterceptorBatchMethods* batch,
         InterceptionHookPoints hook) {
  return batch->QueryInterceptionHookPoint(hook);
}

bool IsPostStage(grpc::experimental::InterceptorBatchMethods* batch) {
  return Has(batch, InterceptionHookPoints::POST_RECV_INITIAL_METADATA) ||
         Has(batch, InterceptionHookPoints::POST_RECV_MESSAGE) ||
         Has(batch, InterceptionHookPoints::POST_RECV_STATUS) ||
         Has(batch, InterceptionHookPoints::POST_SEND_MESSAGE);
}

// A stub that asks for initial metadata alone may wait for it before it asks
// for the answer. The callback reactor asks for both at once: its second batch
// comes within this time.
constexpr absl::Duration InitialMetadataPatience() {
  return absl::Milliseconds(5);
}

bool CarriesMetadata(const SendMetadata& metadata, const std::string& name) {
  return !metadata.empty() && metadata.find(name) != metadata.end();
}

}  // namespace

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

void UnaryCall::OnStart(Batch* batch) {
  start_batch_ = batch;
  live_metadata_ = batch->GetSendInitialMetadata();
  open_ = true;
  call_id_ = runtime_->CallStarted();
  machine_.emplace(Setup());
  if (machine_->may_retry() || NeedsOwnedFirst()) {
    KeepRequest(batch);
    if (interceptors_behind_) {
      kept_metadata_ = *live_metadata_;
      metadata_kept_ = true;
    }
  }
  if (runtime_->observer() != nullptr) {
    runtime_->observer()->OnCallStart(Info());
  }
  CallMachine::Actions actions;
  const absl::optional<EndCause> closed = runtime_->closed();
  if (closed.has_value()) machine_->End(*closed, start_, &actions);
  if (ended_early_.has_value()) machine_->End(*ended_early_, start_, &actions);
  machine_->Start(start_, &actions);
  Perform(&actions);
  start_batch_ = nullptr;
}

CallSetup UnaryCall::Setup() {
  CallSetup setup;
  setup.policy = entry_->policy;
  if (options_ != nullptr) {
    setup.policy = options_->options.ApplyTo(entry_->policy);
    setup.operation = options_->options.operation();
    setup.idempotent_override = options_->options.idempotent();
  }
  if (setup.policy != nullptr && setup.policy->retry.has_value()) {
    setup.throttle = entry_->throttle;
  }
  setup.random = runtime_->random();
  setup.start = start_;
  setup.caller_deadline = caller_deadline_;
  setup.idempotency = entry_->idempotency;
  if (setup.policy == nullptr || setup.policy->inherit_deadline) {
    setup.inherited_deadline = inherited_deadline_;
  } else {
    inherited_server_call_ = nullptr;
  }
  PrepareMetadata(&setup);
  return setup;
}

void UnaryCall::PrepareMetadata(CallSetup* setup) {
  const MethodPolicy* policy = setup->policy.get();
  if (!live_metadata_->empty()) {
    // Of another call's, forwarded by accident: this is a first attempt.
    if (policy != nullptr)
      live_metadata_->erase(policy->previous_attempts_name);
    live_metadata_->erase(kGrpcPreviousAttemptsName);
  }
  const bool generate = policy != nullptr && policy->key.generate;
  if (!generate && options_ == nullptr && live_metadata_->empty()) return;
  static const IdempotencyKeyPolicy* const kNoKey = new IdempotencyKeyPolicy;
  const IdempotencyKeyPolicy& key_policy =
      policy != nullptr ? policy->key : *kNoKey;
  const absl::optional<std::string> none;
  const absl::optional<std::string>& wanted =
      options_ != nullptr ? options_->options.idempotency_key() : none;
  const bool in_metadata = CarriesMetadata(*live_metadata_, key_policy.name);
  if (!in_metadata && !wanted.has_value() && !generate) return;
  absl::StatusOr<std::string> key = ChooseKey(key_policy, wanted, in_metadata);
  if (!key.ok()) {
    setup->refused = key.status();
    return;
  }
  setup->has_idempotency_key = true;
  if (in_metadata) {
    key_ = live_metadata_->find(key_policy.name)->second;
    return;
  }
  key_ = *std::move(key);
  live_metadata_->emplace(key_policy.name, key_);
}

absl::StatusOr<std::string> UnaryCall::ChooseKey(
    const IdempotencyKeyPolicy& policy,
    const absl::optional<std::string>& wanted, bool in_metadata) const {
  RandomSource& random = *runtime_->random();
  if (runtime_->key_generator() == nullptr || policy.generator != nullptr) {
    return ChooseIdempotencyKey(policy, wanted, in_metadata, random);
  }
  IdempotencyKeyPolicy with_generator = policy;
  with_generator.generator = runtime_->key_generator();
  return ChooseIdempotencyKey(with_generator, wanted, in_metadata, random);
}

void UnaryCall::KeepRequest(Batch* batch) {
  if (!Has(batch, InterceptionHookPoints::PRE_SEND_MESSAGE)) return;
  const grpc::ByteBuffer* bytes = batch->GetSerializedSendMessage();
  // A message in one piece, as most are, costs less to keep without the buffer
  // around it.
  const bool one_piece = bytes->TrySingleSlice(&request_piece_).ok();
  const size_t size = one_piece ? request_piece_.size() : bytes->Length();
  if (machine_->may_retry() && size > machine_->max_retained_request_bytes()) {
    replay_ = Replay::kTooLarge;
    if (!NeedsOwnedFirst()) {
      request_piece_ = grpc::Slice();
      return;
    }
  }
  if (!one_piece) request_ = *bytes;
}

grpc::ByteBuffer UnaryCall::KeptRequest() const {
  return request_.Valid() ? request_ : grpc::ByteBuffer(&request_piece_, 1);
}

bool UnaryCall::NeedsOwnedFirst() const {
  if (machine_->deadline() + DeadlineSlack() < caller_deadline_) return true;
  if (inherited_server_call_ != nullptr && HasPrivateAccess()) return true;
  return machine_->may_retry() &&
         (runtime_->mode() == DriverMode::kAlwaysOwned || !HasPrivateAccess());
}

void UnaryCall::OnStatusBatch(Batch* batch) {
  status_batch_ = batch;
  initial_timer_ = nullptr;
  if (finish_.has_value()) return Answer();
  if (!start_waits_) return;
  start_waits_ = false;
  StartChild();
}

void UnaryCall::OnInitialBatch(Batch* batch) {
  // Refused before anything was sent: there is nothing to wait for.
  if (finish_.has_value()) return batch->Proceed();
  initial_batch_ = batch;
  if (status_batch_ != nullptr) return;
  initial_timer_ = std::make_unique<Timer>(
      GrpcNow() + InitialMetadataPatience(),
      [self = shared_from_this()](bool fired) {
        if (fired) {
          self->Post(MakeEvent(Event::Kind::kInitialExpired, nullptr));
        }
      });
}

void UnaryCall::OnInitialExpired() {
  if (status_batch_ != nullptr || initial_batch_ == nullptr) return;
  // Handed over empty: what an attempt receives later cannot be added.
  Batch* const batch = initial_batch_;
  initial_batch_ = nullptr;
  batch->Proceed();
}

void UnaryCall::OnNativeDone(Batch* batch) {
  status_batch_ = batch;
  native_timer_ = nullptr;
  const grpc::Status& status = *batch->GetRecvStatus();
  CallMachine::Actions actions;
  if (status.ok()) {
    // Nobody reads the clock of most calls.
    const bool timed = options_ != nullptr || runtime_->observer() != nullptr ||
                       machine_->counts_time();
    machine_->AttemptDone(1, Outcome(), timed ? GrpcNow() : start_, &actions);
  } else {
    const Instant now = GrpcNow();
    const bool has_initial =
        Has(batch, InterceptionHookPoints::POST_RECV_INITIAL_METADATA);
    if (native_timed_out_ != nullptr && native_timed_out_->load() &&
        status.error_code() == grpc::StatusCode::CANCELLED) {
      native_override_ = std::make_unique<const grpc::Status>(TimedOut());
    }
    GrpcOutcome mapped(native_override_ != nullptr ? *native_override_ : status,
                       *batch->GetRecvTrailingMetadata(),
                       has_initial ? batch->GetRecvInitialMetadata() : nullptr);
    Outcome& outcome = mapped.outcome();
    outcome.attempt_timed_out = native_override_ != nullptr && LimitIsOwn();
    outcome.headers_received =
        ReceivedHeaders(*info_->client_context(), native_override_ != nullptr);
    outcome.handed_over = outcome.headers_received && !has_initial;
    outcome.replay = ReplayOfFailed();
    const absl::optional<EndCause> closed = runtime_->closed();
    if (closed.has_value()) machine_->End(*closed, now, &actions);
    if (native_override_ == nullptr) {
      NoticeParentCancel(status, *info_->client_context(), now, &actions);
    }
    machine_->AttemptDone(1, outcome, now, &actions);
  }
  ObserveAttemptEnd();
  Perform(&actions);
}

Replay UnaryCall::ReplayOfFailed() {
  if (!machine_->may_retry()) return Replay::kPossible;
  if (replay_ == Replay::kPossible &&
      !runtime_->codec()->Recognizes(response_)) {
    replay_ = Replay::kUnknownMessageType;
  }
  if (runtime_->CoreRetries(info_->channel())) replay_ = Replay::kOneShot;
  return replay_;
}

grpc_call* UnaryCall::ServerCall() const {
  auto* const inherited = static_cast<grpc_call*>(inherited_server_call_.get());
  return inherited != nullptr ? inherited
                              : ServerCallOf(*info_->client_context());
}

// gRPC ends an attempt when the server call above it is cancelled, and says no
// more than CANCELLED.
void UnaryCall::NoticeParentCancel(const grpc::Status& status,
                                   const grpc::ClientContext& context,
                                   Instant now, CallMachine::Actions* actions) {
  if (ServerCall() != nullptr && CancelledHere(context, status)) {
    machine_->End(EndCause::kParent, now, actions);
  }
}

grpc::Status UnaryCall::TimedOut() const {
  return grpc::Status(
      grpc::StatusCode::DEADLINE_EXCEEDED,
      LimitIsOwn()
          ? absl::StrCat("attempt timeout of ",
                         absl::FormatDuration(attempt_.timeout), " exceeded")
          : "Deadline Exceeded");
}

void UnaryCall::OnChildDone(const ChildAttempt* child,
                            const grpc::Status& status) {
  if (child != child_.get() || machine_->finished()) return;
  const Instant now = GrpcNow();
  const bool timed_out =
      LimitIsOwn() && now + DeadlineSlack() >= attempt_.deadline &&
      status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  child_status_ =
      std::make_unique<const grpc::Status>(timed_out ? TimedOut() : status);
  CallMachine::Actions actions;
  if (child == nullptr) {
    // Ended before it was begun: there was no response object yet.
    Outcome outcome;
    outcome.code = CanonicalCode(status.error_code());
    outcome.replay = Replay::kUnknownMessageType;
    machine_->AttemptDone(child_number_, outcome, now, &actions);
  } else if (status.ok()) {
    machine_->AttemptDone(child_number_, Outcome(), now, &actions);
  } else {
    GrpcOutcome mapped(*child_status_,
                       child_->context().GetServerTrailingMetadata(),
                       &child_->context().GetServerInitialMetadata());
    mapped.outcome().headers_received =
        ReceivedHeaders(child_->context(), /*cancelled=*/false);
    mapped.outcome().replay = ReplayOfFailed();
    NoticeParentCancel(status, child_->context(), now, &actions);
    machine_->AttemptDone(child_number_, mapped.outcome(), now, &actions);
  }
  ObserveAttemptEnd();
  Perform(&actions);
}

void UnaryCall::OnWake(int wait_number) {
  if (wait_number != wait_number_) return;
  CallMachine::Actions actions;
  machine_->Wake(GrpcNow(), &actions);
  Perform(&actions);
}

void UnaryCall::OnEnd(EndCause cause) {
  if (!machine_.has_value()) {
    if (!ended_early_.has_value()) ended_early_ = cause;
    return;
  }
  ended_by_caller_ = cause == EndCause::kCaller;
  CallMachine::Actions actions;
  machine_->End(cause, GrpcNow(), &actions);
  Perform(&actions);
}

// ---- What the machine wants. ----

void UnaryCall::Perform(CallMachine::Actions* actions) {
  for (CallMachine::Action& action : *actions) {
    absl::visit([this](auto& wanted) { Do(wanted); }, action);
  }
}

void UnaryCall::Do(const StartAttempt& start) {
  wait_timer_ = nullptr;
  parent_watch_ = nullptr;
  attempt_ = start;
  if (runtime_->observer() != nullptr) {
    runtime_->observer()->OnAttemptStart(Info(), start.number, start.kind);
  }
  if (start.number > 1) return StartChild();
  // A response object that no child can fill leaves the call to gRPC.
  const bool unknown_type =
      response_ != nullptr && !runtime_->codec()->Recognizes(response_);
  if (!NeedsOwnedFirst() || unknown_type) return StartNative();
  Hold();
  Hijack();
  start_waits_ = true;
}

void UnaryCall::StartNative() {
  if (attempt_.deadline + DeadlineSlack() < caller_deadline_) {
    grpc_call* const call = info_->client_context()->c_call();
    native_timed_out_ = std::make_shared<std::atomic<bool>>(false);
    grpc_call_ref(call);
    native_timer_ = std::make_unique<Timer>(
        attempt_.deadline, [call, flag = native_timed_out_](bool fired) {
          if (fired) {
            flag->store(true);
            grpc_call_cancel(call, nullptr);
          }
          grpc_call_unref(call);
        });
  }
  started_.store(true, std::memory_order_release);
  start_batch_->Proceed();
}

void UnaryCall::Hijack() {
  owned_ = true;
  started_.store(true, std::memory_order_release);
  // Runs Intercept again with the PRE_RECV hooks of this batch.
  start_batch_->Hijack();
}

void UnaryCall::StartChild() {
  child_number_ = attempt_.number;
  if (!runtime_->codec()->Recognizes(response_)) {
    child_ = nullptr;
    Event event = MakeEvent(Event::Kind::kChildDone, nullptr);
    event.status = grpc::Status(
        grpc::StatusCode::INTERNAL,
        "redial cannot fill this response object: set ChannelOptions::codec");
    return Post(std::move(event));
  }
  ChildAttempt::Setup setup;
  setup.caller = info_->client_context();
  setup.metadata = metadata_kept_ ? &kept_metadata_ : live_metadata_;
  setup.previous_attempts = attempt_.number - 1;
  setup.previous_attempts_name = machine_->previous_attempts_name();
  setup.deadline = attempt_.deadline;
  setup.server_call = static_cast<grpc_call*>(inherited_server_call_.get());
  setup.request = KeptRequest();
  setup.response = response_;
  setup.codec = runtime_->codec();
  setup.owner = runtime_.get();
  child_ = std::make_unique<ChildAttempt>(setup);
  child_->Start(
      info_->channel(), entry_->method, info_->suffix_for_stats(),
      [self = shared_from_this(), child = child_.get()](grpc::Status status) {
        Event event = MakeEvent(Event::Kind::kChildDone, nullptr);
        event.child = child;
        event.status = std::move(status);
        self->Post(std::move(event));
      });
}

void UnaryCall::Do(const WaitUntil& wait) {
  Hold();
  if (runtime_->observer() != nullptr) {
    RetryScheduled scheduled;
    scheduled.next_attempt = wait.next_attempt;
    scheduled.wait = wait.wait;
    scheduled.wait_from = wait.wait_from;
    scheduled.because = machine_->ledger().attempts().back().outcome_class;
    scheduled.code = machine_->ledger().attempts().back().code;
    runtime_->observer()->OnRetryScheduled(Info(), scheduled);
  }
  const std::shared_ptr<UnaryCall> self = shared_from_this();
  const int number = ++wait_number_;
  wait_timer_ = std::make_unique<Timer>(wait.time, [self, number](bool fired) {
    if (!fired) return;
    Event event = MakeEvent(Event::Kind::kWake, nullptr);
    event.wait_number = number;
    self->Post(std::move(event));
  });
  grpc_call* const server_call = ServerCall();
  if (server_call == nullptr) return;
  parent_watch_ = std::make_unique<ParentWatch>(
      info_->channel(), server_call, entry_->method,
      [self](grpc::StatusCode code) {
        self->End(code == grpc::StatusCode::DEADLINE_EXCEEDED
                      ? EndCause::kParentDeadline
                      : EndCause::kParent);
      });
}

void UnaryCall::Do(const CancelAttempt& cancel) {
  if (start_waits_) {
    start_waits_ = false;
    child_ = nullptr;
    child_number_ = cancel.number;
    Event event = MakeEvent(Event::Kind::kChildDone, nullptr);
    event.status =
        grpc::Status(grpc::StatusCode::CANCELLED, "cancelled before it began");
    return Post(std::move(event));
  }
  if (child_ != nullptr) return child_->Cancel();
  // Native. Where the caller cancelled, gRPC does this itself, and a caller
  // that never asked for its answer may have deleted the context.
  if (!ended_by_caller_) {
    grpc_call_cancel(info_->client_context()->c_call(), nullptr);
  }
}

void UnaryCall::Do(const Finish& finish) {
  finish_ = finish;
  wait_timer_ = nullptr;
  parent_watch_ = nullptr;
  if (status_batch_ == nullptr && !owned_) {
    // Refused before anything was sent.
    Hijack();
  }
  if (status_batch_ != nullptr) Answer();
}

// ---- Telling the caller. ----

void UnaryCall::Answer() {
  Release();
  ReportEnd();
  if (owned_) {
    FillOwned();
  } else {
    FillNative();
  }
  Batch* const initial = initial_batch_;
  Batch* const status = status_batch_;
  initial_batch_ = nullptr;
  status_batch_ = nullptr;
  if (open_) {
    open_ = false;
    runtime_->CallEnded();
  }
  answered_.store(true);
  if (initial != nullptr) initial->Proceed();
  status->Proceed();
}

bool UnaryCall::ChildDecides() const {
  return finish_->attempt != 0 && child_number_ == finish_->attempt;
}

void UnaryCall::FillStatus(Batch* batch) {
  grpc::Status* const status = batch->GetRecvStatus();
  if (finish_->attempt == 0) {
    *status = GrpcStatus(finish_->status);
    batch->GetRecvTrailingMetadata()->clear();
  } else if (ChildDecides()) {
    *status = *child_status_;
    GrpcMetadata* const trailers = batch->GetRecvTrailingMetadata();
    trailers->clear();
    if (child_ != nullptr) {
      *trailers = child_->context().GetServerTrailingMetadata();
    }
  } else if (native_override_ != nullptr) {
    *status = *native_override_;
  }
  if (!status->ok() && machine_->explain_in_message()) {
    *status = grpc::Status(
        status->error_code(),
        absl::StrCat(status->error_message(),
                     " [redial: ", machine_->Report(GrpcNow()).Summary(), "]"),
        status->error_details());
  }
}

void UnaryCall::FillInitialMetadata(Batch* batch) {
  GrpcMetadata* const headers = batch->GetRecvInitialMetadata();
  headers->clear();
  if (ChildDecides() && child_ != nullptr) {
    *headers = child_->context().GetServerInitialMetadata();
  }
}

void UnaryCall::FillNative() {
  // The application's own answer stands as it is.
  if (finish_->attempt == 1 && finish_->reason == StopReason::kSuccess) return;
  FillStatus(status_batch_);
  if (finish_->attempt == 1) return;
  if (Has(status_batch_, InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
    FillInitialMetadata(status_batch_);
  }
  if (ChildDecides() && child_status_->ok() && child_->got_message()) {
    MarkMessageReceived(status_batch_, response_, &recv_failed_);
  }
}

void UnaryCall::FillOwned() {
  FillStatus(status_batch_);
  if (initial_batch_ != nullptr) FillInitialMetadata(initial_batch_);
  if (Has(status_batch_, InterceptionHookPoints::PRE_RECV_INITIAL_METADATA)) {
    FillInitialMetadata(status_batch_);
  }
  const bool has_message = ChildDecides() && child_ != nullptr &&
                           child_status_->ok() && child_->got_message();
  if (!has_message &&
      Has(status_batch_, InterceptionHookPoints::PRE_RECV_MESSAGE)) {
    status_batch_->FailHijackedRecvMessage();
  }
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
