#include "redial/testing/simulated_answer.h"

#include "redial/core/error_details.h"
#include "redial/core/pushback.h"
#include "redial/testing/status_details.h"

namespace redial {

SimulatedAnswer SimulatedAnswer::Error(absl::StatusCode code,
                                       absl::string_view message) {
  SimulatedAnswer answer;
  answer.code = code;
  answer.message = std::string(message);
  return answer;
}

SimulatedAnswer SimulatedAnswer::Hang() {
  SimulatedAnswer answer;
  answer.delay = absl::InfiniteDuration();
  return answer;
}

SimulatedAnswer SimulatedAnswer::Drop() {
  SimulatedAnswer answer =
      Error(absl::StatusCode::kUnavailable, "connection closed by peer");
  answer.transport_error = TransportError::kReset;
  return answer;
}

SimulatedAnswer& SimulatedAnswer::After(absl::Duration after) {
  delay = after;
  return *this;
}

SimulatedAnswer& SimulatedAnswer::WithTrailer(absl::string_view name,
                                              absl::string_view value) {
  metadata.emplace(std::string(name), std::string(value));
  return *this;
}

SimulatedAnswer& SimulatedAnswer::WithRetryInfo(absl::Duration retry_delay) {
  StatusDetails details;
  details.retry_delay = retry_delay;
  status_details = EncodeStatusDetails(code, message, details);
  return *this;
}

SimulatedAnswer& SimulatedAnswer::WithHeaders() {
  headers_received = true;
  return *this;
}

absl::optional<absl::string_view> SimulatedMetadata::Find(
    absl::string_view name) const {
  const auto found = metadata_.find(std::string(name));
  if (found == metadata_.end()) return absl::nullopt;
  return absl::string_view(found->second);
}

Outcome OutcomeOf(const SimulatedAnswer& answer,
                  const SimulatedMetadata& metadata) {
  Outcome outcome;
  outcome.code = answer.code;
  outcome.message = answer.message;
  outcome.http_status = answer.http_status;
  outcome.transport_error = answer.transport_error;
  outcome.unprocessed = answer.unprocessed;
  outcome.headers_received = answer.headers_received;
  outcome.handed_over = answer.handed_over_after.has_value();
  outcome.replay = answer.replay;
  outcome.pushback =
      answer.pushback.has_value()
          ? *answer.pushback
          : ReadPushback(&metadata, answer.status_details, absl::UnixEpoch(),
                         /*http_headers=*/true);
  const ErrorDetails details = ParseErrorDetails(answer.status_details);
  outcome.error_reason = details.error_reason;
  outcome.error_domain = details.error_domain;
  outcome.metadata = &metadata;
  return outcome;
}

}  // namespace redial
