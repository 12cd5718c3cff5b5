// What the machine is told: the ends of attempts, batches that came, timers.
#include <memory>

#include "absl/strings/str_cat.h"
#include "redial/grpc/batch_hooks.h"
#include "redial/grpc/grpc_clock.h"
#include "redial/grpc/grpc_outcome.h"
#include "redial/grpc/private_access.h"
#include "redial/grpc/unary_call.h"

namespace redial {
namespace {

// A stub that asks for initial metadata alone may wait for it before it asks
// for the answer. The callback reactor asks for both at once: its second batch
// comes within this time.
constexpr absl::Duration InitialMetadataPatience() {
  return absl::Milliseconds(5);
}

}  // namespace

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

}  // namespace redial
