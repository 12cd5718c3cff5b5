#include "tools/redial/scenario/scenario_calls.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "redial/testing/status_details.h"

namespace redial {

CallOptions OptionsOf(const ScenarioCall& call) {
  CallOptions options;
  if (call.options.max_attempts.has_value()) {
    options.set_max_attempts(*call.options.max_attempts);
  }
  if (call.options.attempt_timeout.has_value()) {
    options.set_attempt_timeout(*call.options.attempt_timeout);
  }
  if (call.options.idempotency_key.has_value()) {
    options.set_idempotency_key(*call.options.idempotency_key);
  }
  return options;
}

std::shared_ptr<const MethodPolicy> PolicyOf(const Scenario& scenario,
                                             const ScenarioCall& call) {
  const auto* found = scenario.policy->Find(call.grpc->method);
  return OptionsOf(call).ApplyTo(found != nullptr ? *found : nullptr);
}

std::string PreviousAttemptsNameOf(const Scenario& scenario,
                                   const std::string& method) {
  const auto* found = scenario.policy->Find(method);
  return found != nullptr ? (*found)->previous_attempts_name
                          : kPreviousAttemptsName;
}

redial::v1::EchoRequest ScenarioRequest() {
  redial::v1::EchoRequest request;
  request.set_text("hello");
  return request;
}

Idempotency DescriptorIdempotency(const std::string& method) {
  const google::protobuf::DescriptorPool* pool =
      redial::v1::EchoRequest::descriptor()->file()->pool();
  const google::protobuf::MethodDescriptor* descriptor = pool->FindMethodByName(
      absl::StrReplaceAll(absl::StripPrefix(method, "/"), {{"/", "."}}));
  if (descriptor == nullptr) return Idempotency::kUnknown;
  switch (descriptor->options().idempotency_level()) {
    case google::protobuf::MethodOptions::NO_SIDE_EFFECTS:
      return Idempotency::kNoSideEffects;
    case google::protobuf::MethodOptions::IDEMPOTENT:
      return Idempotency::kIdempotent;
    default:
      return Idempotency::kUnknown;
  }
}

absl::Status CheckGrpcCalls(const Scenario& scenario) {
  for (size_t i = 0; i < scenario.calls.size(); ++i) {
    if (!scenario.calls[i].grpc.has_value()) {
      return absl::UnimplementedError(
          absl::StrCat("calls[", i,
                       "]: is an HTTP call; this version of redial has gRPC "
                       "only, HTTP is not in it"));
    }
  }
  return absl::OkStatus();
}

std::string DetailsOf(const ScenarioAnswer& answer) {
  if (!answer.retry_info.has_value() ||
      answer.status == absl::StatusCode::kOk) {
    return std::string();
  }
  StatusDetails details;
  details.retry_delay = *answer.retry_info;
  return EncodeStatusDetails(answer.status, answer.message, details);
}

}  // namespace redial
