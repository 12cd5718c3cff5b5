#include "redial/testing/scripted_grpc_call.h"

#include <grpc/support/time.h>

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "redial/testing/metadata_rules.h"

namespace redial {
namespace {

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

// "ipv4:127.0.0.1:54321" -> 54321.
int PortOf(const std::string& peer) {
  int port = 0;
  const size_t colon = peer.rfind(':');
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(peer.substr(colon + 1), &port)) {
    return 0;
  }
  return port;
}

}  // namespace

grpc::ServerGenericBidiReactor* ScriptedGrpcCall::Start(
    grpc::GenericCallbackServerContext* context, ScriptedGrpcAnswer answer,
    size_t request, ScriptedGrpcListener* listener) {
  std::shared_ptr<ScriptedGrpcCall> call(
      new ScriptedGrpcCall(context, std::move(answer), request, listener));
  call->self_ = call;
  call->StartRead(&call->incoming_);
  return call.get();
}

ScriptedGrpcCall::ScriptedGrpcCall(grpc::GenericCallbackServerContext* context,
                                   ScriptedGrpcAnswer answer, size_t request,
                                   ScriptedGrpcListener* listener)
    : answer_(std::move(answer)),
      request_(request),
      peer_port_(PortOf(context->peer())),
      listener_(listener),
      headers_left_(answer_.send_headers || !answer_.initial_metadata.empty()),
      messages_left_(answer_.messages.value_or(answer_.status.ok() ? 1 : 0)) {
  for (const auto& [name, value] : answer_.initial_metadata) {
    if (CheckMetadata(name, value).ok()) {
      context->AddInitialMetadata(name, value);
    }
  }
  for (const auto& [name, value] : answer_.trailers) {
    if (CheckMetadata(name, value).ok()) {
      context->AddTrailingMetadata(name, value);
    }
  }
}

void ScriptedGrpcCall::OnReadDone(bool ok) {
  bool begin = false;
  bool step = false;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (!begun_) begin = begun_ = true;
    if (ok && !first_message_.has_value()) first_message_ = BytesOf(incoming_);
    if (!ok) half_closed_ = true;
    step = !ok && waits_for_end_;
  }
  if (ok) {
    listener_->OnMessage(request_, BytesOf(incoming_));
    StartRead(&incoming_);
  }
  if (begin) WaitForDelay();
  if (step) Step();
}

void ScriptedGrpcCall::WaitForDelay() {
  if (answer_.delay <= absl::ZeroDuration()) return Answer();
  if (answer_.delay == absl::InfiniteDuration()) return;
  grpc::Alarm* alarm = nullptr;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (finished_ || cancelled_) return;
    delay_ = std::make_unique<grpc::Alarm>();
    alarm = delay_.get();
  }
  const gpr_timespec end =
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_nanos(absl::ToInt64Nanoseconds(answer_.delay),
                                       GPR_TIMESPAN));
  alarm->Set(end, [self = shared_from_this()](bool) { self->Answer(); });
  // A cancel that came before Set had nothing to end.
  std::unique_lock<std::mutex> lock(mu_);
  const bool late = cancelled_;
  lock.unlock();
  if (late) alarm->Cancel();
}

void ScriptedGrpcCall::Answer() {
  if (!answer_.drop) return Step();
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (cancelled_) return;
    dropped_ = true;
  }
  // The broken connection comes back as a cancel.
  listener_->DropConnection(peer_port_);
}

void ScriptedGrpcCall::Step() {
  enum class Next { kHeaders, kMessage, kStatus, kCancelled };
  Next next = Next::kStatus;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (finished_ || acting_) return;
    if (cancelled_) {
      next = Next::kCancelled;
    } else if (failed_) {
      return;
    } else if (headers_left_) {
      headers_left_ = false;
      next = Next::kHeaders;
    } else if (answer_.hang) {
      return;
    } else if (messages_left_ > 0) {
      --messages_left_;
      next = Next::kMessage;
      const grpc::Slice slice(answer_.body.has_value()
                                  ? *answer_.body
                                  : first_message_.value_or(std::string()));
      outgoing_ = grpc::ByteBuffer(&slice, 1);
    } else if (answer_.status.ok() && !half_closed_) {
      waits_for_end_ = true;
      return;
    }
    acting_ = next == Next::kHeaders || next == Next::kMessage;
    finished_ = !acting_;
  }
  switch (next) {
    case Next::kHeaders:
      return StartSendInitialMetadata();
    case Next::kMessage:
      return StartWrite(&outgoing_);
    case Next::kStatus:
      return Finish(answer_.status);
    case Next::kCancelled:
      return Finish(grpc::Status::CANCELLED);
  }
}

void ScriptedGrpcCall::StepDone(bool ok) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    acting_ = false;
    if (!ok) failed_ = true;
  }
  Step();
}

void ScriptedGrpcCall::OnSendInitialMetadataDone(bool ok) { StepDone(ok); }

void ScriptedGrpcCall::OnWriteDone(bool ok) { StepDone(ok); }

void ScriptedGrpcCall::OnCancel() {
  grpc::Alarm* alarm = nullptr;
  bool told = false;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (finished_) return;
    cancelled_ = true;
    alarm = delay_.get();
    told = !dropped_;
  }
  if (alarm != nullptr) alarm->Cancel();
  if (told) listener_->OnCancelled(request_);
  Step();
}

void ScriptedGrpcCall::OnDone() {
  // The timer keeps a reference to the call, and the call owns the timer.
  std::unique_ptr<grpc::Alarm> alarm;
  {
    std::lock_guard<std::mutex> lock(mu_);
    alarm = std::move(delay_);
  }
  alarm.reset();
  ScriptedGrpcListener* const listener = listener_;
  const std::shared_ptr<ScriptedGrpcCall> self = std::move(self_);
  listener->OnCallOver();
}

}  // namespace redial
