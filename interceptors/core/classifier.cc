#include "redial/core/classifier.h"

#include "absl/strings/string_view.h"

namespace redial {
namespace {

bool ProvablyNotActedOn(const Outcome& outcome) {
  return outcome.unprocessed ||
         outcome.transport_error == TransportError::kNotSent;
}

OutcomeClass ClassOfRetryableCode(const Outcome& outcome) {
  if (ProvablyNotActedOn(outcome)) return OutcomeClass::kUnprocessed;
  if (outcome.code == absl::StatusCode::kResourceExhausted) {
    return OutcomeClass::kThrottled;
  }
  return OutcomeClass::kTransient;
}

OutcomeClass DefaultClass(const Outcome& outcome) {
  if (ProvablyNotActedOn(outcome)) return OutcomeClass::kUnprocessed;
  switch (outcome.code) {
    case absl::StatusCode::kUnavailable:
      return OutcomeClass::kTransient;
    case absl::StatusCode::kResourceExhausted:
      // Also what a too-large message gives: only the server's own delay tells
      // that it is about load.
      return outcome.pushback.kind == Pushback::Kind::kDelay
                 ? OutcomeClass::kThrottled
                 : OutcomeClass::kPermanent;
    default:
      return OutcomeClass::kPermanent;
  }
}

}  // namespace

bool ClassRule::Matches(const Outcome& outcome) const {
  bool any_condition = false;
  const auto holds = [&any_condition](bool is_set, bool condition) {
    any_condition |= is_set;
    return !is_set || condition;
  };
  const bool all =
      holds(code.has_value(), code && *code == outcome.code) &&
      holds(http_status.has_value(),
            http_status && *http_status == outcome.http_status) &&
      holds(error_reason.has_value(),
            error_reason && *error_reason == outcome.error_reason) &&
      holds(error_domain.has_value(),
            error_domain && *error_domain == outcome.error_domain) &&
      holds(transport_error.has_value(),
            transport_error && *transport_error == outcome.transport_error) &&
      holds(
          attempt_timed_out.has_value(),
          attempt_timed_out && *attempt_timed_out == outcome.attempt_timed_out);
  if (!all) return false;
  if (metadata_value.has_value() && !metadata_name.has_value()) return false;
  if (metadata_name.has_value()) {
    any_condition = true;
    if (outcome.metadata == nullptr) return false;
    const absl::optional<absl::string_view> value =
        outcome.metadata->Find(*metadata_name);
    if (!value.has_value()) return false;
    if (metadata_value.has_value() && *value != *metadata_value) return false;
  }
  return any_condition;
}

Classification Classify(const ClassifierPolicy& policy,
                        const Outcome& outcome) {
  if (outcome.ok()) return {OutcomeClass::kSuccess, false};
  const bool listed = policy.retryable_codes.has_value() &&
                      policy.retryable_codes->Contains(outcome.code);
  for (const ClassRule& rule : policy.rules) {
    if (rule.Matches(outcome)) return {rule.outcome_class, listed};
  }
  if (outcome.attempt_timed_out) return {OutcomeClass::kAttemptTimeout, listed};
  if (!policy.retryable_codes.has_value()) {
    return {DefaultClass(outcome), false};
  }
  if (!listed) return {OutcomeClass::kPermanent, false};
  return {ClassOfRetryableCode(outcome), true};
}

}  // namespace redial
