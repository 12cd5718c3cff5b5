// What the caller is told: status, metadata and message of the deciding
// attempt, written into the batches that wait for them, and the report.
#include <utility>

#include "absl/strings/str_cat.h"
#include "redial/grpc/batch_hooks.h"
#include "redial/grpc/grpc_clock.h"
#include "redial/grpc/grpc_outcome.h"
#include "redial/grpc/private_access.h"
#include "redial/grpc/unary_call.h"

namespace redial {

void UnaryCall::Do(Finish&& finish) {
  finish_ = std::move(finish);
  wait_timer_ = nullptr;
  parent_watch_ = nullptr;
  if (status_batch_ == nullptr && !owned_) {
    // Refused before anything was sent.
    Hijack();
  }
  if (status_batch_ != nullptr) Answer();
}

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

}  // namespace redial
