// How a call begins: its settings, its key, its request, and whose call the
// first attempt is.
#include <string>
#include <utility>

#include "redial/core/idempotency.h"
#include "redial/grpc/batch_hooks.h"
#include "redial/grpc/private_access.h"
#include "redial/grpc/unary_call.h"

namespace redial {
namespace {

bool CarriesMetadata(const SendMetadata& metadata, const std::string& name) {
  return !metadata.empty() && metadata.find(name) != metadata.end();
}

}  // namespace

void UnaryCall::OnStart(Batch* batch) {
  start_batch_ = batch;
  live_metadata_ = batch->GetSendInitialMetadata();
  open_ = true;
  call_id_ = runtime_->CallStarted();
  machine_.emplace(Setup());
  owned_first_ = NeedsOwnedFirst();
  if (machine_->may_retry() || owned_first_) {
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
    if (!owned_first_) {
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

}  // namespace redial
