// What the machine wants: attempts begun and ended, waits.
#include <grpc/grpc.h>

#include <utility>

#include "absl/types/variant.h"
#include "redial/grpc/grpc_clock.h"
#include "redial/grpc/unary_call.h"

namespace redial {

void UnaryCall::Perform(CallMachine::Actions* actions) {
  for (CallMachine::Action& action : *actions) {
    if (auto* const start = absl::get_if<StartAttempt>(&action)) {
      Do(*start);
    } else if (auto* const finish = absl::get_if<Finish>(&action)) {
      Do(std::move(*finish));
    } else if (auto* const wait = absl::get_if<WaitUntil>(&action)) {
      Do(*wait);
    } else if (auto* const cancel = absl::get_if<CancelAttempt>(&action)) {
      Do(*cancel);
    }
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
  if (!owned_first_) return StartNative();
  // A response object that no child can fill leaves the call to gRPC.
  if (response_ != nullptr && !runtime_->codec()->Recognizes(response_)) {
    return StartNative();
  }
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

}  // namespace redial
