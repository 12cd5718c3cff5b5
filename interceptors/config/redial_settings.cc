#include "redial/config/redial_settings.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/config/class_rule_reader.h"
#include "redial/config/json_reader.h"
#include "redial/config/metadata_name_reader.h"
#include "redial/config/retry_budget_reader.h"
#include "redial/config/retry_policy_reader.h"
#include "redial/core/backoff.h"
#include "redial/core/idempotency.h"
#include "redial/core/policy.h"

namespace redial {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

absl::optional<bool> ReadBool(const JsonReader& reader) {
  return reader.Bool();
}

void ReadBackoff(const JsonReader& reader, RedialSettings* settings) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return;
  ReadInto(object->Optional("form"), &settings->backoff_form,
           [](const JsonReader& form) {
             return form.Enum<BackoffForm>(
                 {{"proportional", BackoffForm::kProportional},
                  {"full", BackoffForm::kFull},
                  {"equal", BackoffForm::kEqual},
                  {"additive", BackoffForm::kAdditive},
                  {"upTo", BackoffForm::kUpTo},
                  {"decorrelated", BackoffForm::kDecorrelated}});
           });
  ReadInto(object->Optional("jitter"), &settings->backoff_jitter,
           [](const JsonReader& jitter) { return jitter.Fraction(0, 1); });
  object->ReportUnknown(UnknownKeys::kError);
}

void ReadPushback(const JsonReader& reader, PushbackPolicy* pushback) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return;
  const auto mode = [](const JsonReader& value) {
    return value.Enum<PushbackPolicy::Mode>(
        {{"exact", PushbackPolicy::Mode::kExact},
         {"atLeast", PushbackPolicy::Mode::kAtLeast},
         {"ignore", PushbackPolicy::Mode::kIgnore}});
  };
  ReadInto(object->Optional("grpcPushback"), &pushback->grpc_pushback, mode);
  ReadInto(object->Optional("retryInfo"), &pushback->retry_info, mode);
  ReadInto(object->Optional("retryAfter"), &pushback->retry_after, mode);
  ReadInto(object->Optional("cap"), &pushback->cap,
           [](const JsonReader& cap) { return cap.Duration(); });
  ReadInto(object->Optional("clamp"), &pushback->clamp, ReadBool);
  ReadInto(object->Optional("capGrpcPushback"), &pushback->cap_grpc_pushback,
           ReadBool);
  object->ReportUnknown(UnknownKeys::kError);
}

void ReadKey(const JsonReader& reader, IdempotencyKeyPolicy* key) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return;
  ReadInto(object->Optional("generate"), &key->generate, ReadBool);
  ReadInto(object->Optional("name"), &key->name, ReadOwnMetadataName);
  object->ReportUnknown(UnknownKeys::kError);
}

// What is said about attempts and the deadline.
void ReadLimits(JsonObject* object, RedialSettings* settings) {
  ReadInto(object->Optional("attemptTimeout"), &settings->attempt_timeout,
           [](const JsonReader& reader) {
             absl::optional<absl::Duration> timeout = reader.Duration();
             if (timeout == absl::ZeroDuration()) {
               timeout = absl::InfiniteDuration();
             }
             return timeout;
           });
  ReadInto(object->Optional("retryWindow"), &settings->retry_window,
           [](const JsonReader& reader) {
             return reader.Duration(absl::Nanoseconds(1));
           });
  ReadInto(object->Optional("retryOnAttemptTimeout"),
           &settings->attempt_timeout_retry,
           [](const JsonReader& reader) -> absl::optional<AttemptTimeoutRetry> {
             const absl::optional<bool> retried = reader.Bool();
             if (!retried) return absl::nullopt;
             return *retried ? AttemptTimeoutRetry::kAlways
                             : AttemptTimeoutRetry::kNever;
           });
  ReadInto(object->Optional("attemptLimits"), &settings->attempt_limits,
           ReadAttemptLimits);
  ReadInto(object->Optional("maxAttemptsLimit"), &settings->max_attempts_limit,
           [](const JsonReader& reader) { return reader.Integer(1, kMaxInt); });
  ReadInto(object->Optional("inheritDeadline"), &settings->inherit_deadline,
           ReadBool);
  ReadInto(object->Optional("deadlineReserve"), &settings->deadline_reserve,
           [](const JsonReader& reader) { return reader.Duration(); });
}

// What is sent along.
void ReadMetadata(JsonObject* object, RedialSettings* settings) {
  ReadInto(object->Optional("idempotency"), &settings->idempotency,
           [](const JsonReader& reader) {
             return reader.Enum<Idempotency>(
                 {{"IDEMPOTENT", Idempotency::kIdempotent},
                  {"NO_SIDE_EFFECTS", Idempotency::kNoSideEffects},
                  {"NOT_IDEMPOTENT", Idempotency::kNotIdempotent}});
           });
  const absl::optional<JsonReader> key = object->Optional("idempotencyKey");
  if (key) ReadKey(*key, &settings->key);
  const absl::optional<JsonReader> attempts =
      object->Optional("previousAttemptsMetadata");
  ReadInto(attempts, &settings->previous_attempts_name,
           [](const JsonReader& reader) -> absl::optional<std::string> {
             if (reader.is_string() && reader.String()->empty()) {
               return std::string();
             }
             return ReadOwnMetadataName(reader);
           });
  if (attempts && settings->previous_attempts_name == settings->key.name) {
    attempts->Error(absl::StrCat("is \"", settings->key.name,
                                 "\", the name of the idempotency key; must be "
                                 "another name"));
  }
}

template <typename T, typename U>
void Set(const absl::optional<T>& from, U* to) {
  if (from) *to = *from;
}

}  // namespace

RedialSettings ReadRedialSettings(JsonObject* object, RedialSettings defaults,
                                  RedialScope scope) {
  RedialSettings settings = std::move(defaults);
  const absl::optional<JsonReader> retry = object->Optional("retry");
  if (retry && scope == RedialScope::kDocument) {
    retry->Error(
        "has no place at the top; must stand in the \"redial\" object of a "
        "method config");
  } else if (retry) {
    settings.retry = ReadRedialRetry(*retry);
  }
  const absl::optional<JsonReader> backoff = object->Optional("backoff");
  if (backoff) ReadBackoff(*backoff, &settings);
  ReadInto(object->Optional("rules"), &settings.rules, ReadClassRules);
  const absl::optional<JsonReader> pushback = object->Optional("pushback");
  if (pushback) ReadPushback(*pushback, &settings.pushback);
  ReadInto(object->Optional("headersCommit"), &settings.headers_commit,
           ReadBool);
  ReadInto(object->Optional("maxRetainedRequestBytes"),
           &settings.max_retained_request_bytes,
           [](const JsonReader& reader) { return reader.Integer(0, kMaxInt); });
  ReadLimits(object, &settings);
  ReadMetadata(object, &settings);
  const absl::optional<JsonReader> budget = object->Optional("retryBudget");
  if (budget) settings.retry_budget = ReadRetryBudget(*budget);
  ReadInto(object->Optional("explainInMessage"), &settings.explain_in_message,
           ReadBool);
  object->ReportUnknown(UnknownKeys::kError);
  return settings;
}

void ApplyRedialSettings(const RedialSettings& settings, MethodPolicy* policy) {
  Set(settings.attempt_timeout, &policy->attempt_timeout);
  Set(settings.retry_window, &policy->retry_window);
  Set(settings.inherit_deadline, &policy->inherit_deadline);
  Set(settings.deadline_reserve, &policy->deadline_reserve);
  Set(settings.idempotency, &policy->idempotency);
  policy->key = settings.key;
  Set(settings.previous_attempts_name, &policy->previous_attempts_name);
  policy->retry_budget = settings.retry_budget;
  Set(settings.explain_in_message, &policy->explain_in_message);
  if (!policy->retry) return;
  RetryPolicy& retry = *policy->retry;
  Set(settings.backoff_form, &retry.backoff.form);
  Set(settings.backoff_jitter, &retry.backoff.jitter);
  Set(settings.rules, &retry.classifier.rules);
  Set(settings.attempt_limits, &retry.attempt_limits);
  Set(settings.attempt_timeout_retry, &retry.attempt_timeout_retry);
  retry.pushback = settings.pushback;
  Set(settings.headers_commit, &retry.headers_commit);
  Set(settings.max_retained_request_bytes, &retry.max_retained_request_bytes);
}

}  // namespace redial
