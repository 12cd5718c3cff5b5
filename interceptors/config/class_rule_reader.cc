#include "redial/config/class_rule_reader.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/config/metadata_name_reader.h"
#include "redial/config/status_code_reader.h"
#include "redial/core/classifier.h"
#include "redial/core/outcome.h"
#include "redial/core/policy.h"

namespace redial {
namespace {

absl::optional<TransportError> ReadTransportError(const JsonReader& reader) {
  return reader.Enum<TransportError>({{"NOT_SENT", TransportError::kNotSent},
                                      {"RESET", TransportError::kReset},
                                      {"PROTOCOL", TransportError::kProtocol},
                                      {"OTHER", TransportError::kOther}});
}

absl::optional<OutcomeClass> ReadRuleClass(const JsonReader& reader) {
  return reader.Enum<OutcomeClass>({{"UNPROCESSED", OutcomeClass::kUnprocessed},
                                    {"TRANSIENT", OutcomeClass::kTransient},
                                    {"THROTTLED", OutcomeClass::kThrottled},
                                    {"PERMANENT", OutcomeClass::kPermanent}});
}

// Classes that can lead to another attempt, so that a limit means something.
absl::optional<OutcomeClass> ReadRetryableClass(const JsonReader& reader) {
  return reader.Enum<OutcomeClass>(
      {{"UNPROCESSED", OutcomeClass::kUnprocessed},
       {"TRANSIENT", OutcomeClass::kTransient},
       {"THROTTLED", OutcomeClass::kThrottled},
       {"ATTEMPT_TIMEOUT", OutcomeClass::kAttemptTimeout}});
}

ClassRule ReadClassRule(const JsonReader& reader) {
  ClassRule rule;
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return rule;
  const auto text = [](const JsonReader& value) { return value.String(); };

  int conditions = 0;
  conditions += ReadInto(object->Optional("code"), &rule.code, ReadFailureCode);
  conditions += ReadInto(
      object->Optional("httpStatus"), &rule.http_status,
      [](const JsonReader& status) { return status.Integer(100, 599); });
  conditions +=
      ReadInto(object->Optional("errorReason"), &rule.error_reason, text);
  conditions +=
      ReadInto(object->Optional("errorDomain"), &rule.error_domain, text);
  const bool has_name = ReadInto(object->Optional("metadata"),
                                 &rule.metadata_name, ReadPeerMetadataName);
  conditions += has_name;
  const absl::optional<JsonReader> value = object->Optional("metadataValue");
  ReadInto(value, &rule.metadata_value, text);
  if (value && !has_name) {
    value->Error("has no name; \"metadata\" must name what has this value");
  }
  conditions += ReadInto(object->Optional("transportError"),
                         &rule.transport_error, ReadTransportError);
  conditions +=
      ReadInto(object->Optional("attemptTimeout"), &rule.attempt_timed_out,
               [](const JsonReader& timeout) { return timeout.Bool(); });
  ReadInto(object->Required(
               "class", "one of UNPROCESSED, TRANSIENT, THROTTLED, PERMANENT"),
           &rule.outcome_class, ReadRuleClass);
  object->ReportUnknown(UnknownKeys::kError);
  if (conditions == 0) {
    reader.Error(
        "has no condition and would match nothing; must have at least one of "
        "code, httpStatus, errorReason, errorDomain, metadata, "
        "transportError, attemptTimeout");
  }
  return rule;
}

AttemptLimit ReadAttemptLimit(const JsonReader& reader) {
  AttemptLimit limit;
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return limit;
  const bool has_code =
      ReadInto(object->Optional("code"), &limit.code, ReadFailureCode);
  const bool has_class = ReadInto(object->Optional("class"),
                                  &limit.outcome_class, ReadRetryableClass);
  ReadInto(object->Required("maxAttempts", "an integer, at least 1"),
           &limit.max_attempts, [](const JsonReader& attempts) {
             return attempts.Integer(1, std::numeric_limits<int32_t>::max());
           });
  object->ReportUnknown(UnknownKeys::kError);
  if (has_code == has_class) {
    reader.Error(has_code ? "has a code and a class; must have one of the two"
                          : "must have either a \"code\" or a \"class\"");
  }
  return limit;
}

template <typename T, typename Read>
absl::optional<std::vector<T>> ReadEach(const JsonReader& reader, Read read) {
  const absl::optional<JsonArray> array = reader.Array();
  if (!array) return absl::nullopt;
  std::vector<T> all;
  for (size_t i = 0; i < array->size(); ++i) all.push_back(read((*array)[i]));
  return all;
}

}  // namespace

absl::optional<std::vector<ClassRule>> ReadClassRules(
    const JsonReader& reader) {
  return ReadEach<ClassRule>(reader, ReadClassRule);
}

absl::optional<std::vector<AttemptLimit>> ReadAttemptLimits(
    const JsonReader& reader) {
  return ReadEach<AttemptLimit>(reader, ReadAttemptLimit);
}

}  // namespace redial
