#include "redial/config/retry_policy_reader.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/config/service_config_options.h"
#include "redial/config/status_code_reader.h"
#include "redial/core/backoff.h"
#include "redial/core/policy.h"

namespace redial {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int kMinAttempts = 2;
constexpr int64_t kMaxTokens = 1000;

constexpr absl::string_view kAttemptsWanted =
    "an integer, at least 2 (the first attempt counts)";
constexpr absl::string_view kDurationWanted = "a duration such as \"0.5s\"";
constexpr absl::string_view kCodesWanted =
    "an array of status codes, such as [\"UNAVAILABLE\"]";

constexpr absl::Duration Tick() { return absl::Nanoseconds(1); }

auto DurationAboveZero() {
  return [](const JsonReader& reader) { return reader.Duration(Tick()); };
}

auto AnyPositiveNumber() {
  return [](const JsonReader& reader) {
    return reader.PositiveNumber(NumberForm::kNumberOrText);
  };
}

auto Attempts(int64_t min, NumberForm form) {
  return [=](const JsonReader& reader) {
    return reader.Integer(min, kMaxInt, form);
  };
}

}  // namespace

absl::optional<OwnerRetry> ReadRetryPolicy(const JsonReader& reader,
                                           ServiceConfigDialect dialect) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return absl::nullopt;
  const bool gapic = dialect == ServiceConfigDialect::kGapic;
  OwnerRetry retry;
  retry.attempts_limit = kMaxAttemptsLimit;
  RetryPolicy& policy = retry.policy;
  policy.backoff.form = BackoffForm::kProportional;
  policy.backoff.jitter = 0.2;

  if (gapic && !object->Has("maxAttempts")) {
    policy.max_attempts = RetryPolicy::kUnlimitedAttempts;
    retry.attempts_limit = RetryPolicy::kUnlimitedAttempts;
  } else {
    ReadInto(object->Required("maxAttempts", kAttemptsWanted),
             &policy.max_attempts,
             Attempts(kMinAttempts, NumberForm::kNumberOrText));
  }
  ReadInto(object->Required("initialBackoff", kDurationWanted),
           &policy.backoff.base, DurationAboveZero());
  ReadInto(object->Required("maxBackoff", kDurationWanted), &policy.backoff.max,
           DurationAboveZero());
  ReadInto(object->Required("backoffMultiplier", "a number above 0"),
           &policy.backoff.multiplier, AnyPositiveNumber());
  const absl::optional<JsonReader> per_attempt =
      object->Optional("perAttemptRecvTimeout");
  if (per_attempt) {
    retry.attempt_timeout = per_attempt->Duration(Tick());
    policy.attempt_timeout_retry = AttemptTimeoutRetry::kAlways;
  }

  CodeSet codes;
  if (gapic && !object->Has("retryableStatusCodes")) {
    retry.retries_nothing = true;
  } else {
    const absl::optional<JsonReader> list =
        object->Required("retryableStatusCodes", kCodesWanted);
    if (list) {
      const absl::optional<JsonArray> array = list->Array();
      if (array && array->empty()) {
        if (gapic) {
          retry.retries_nothing = true;
        } else {
          list->Error(absl::StrCat("is empty; must be ", kCodesWanted));
        }
      } else if (array) {
        codes = ReadFailureCodes(*list).value_or(CodeSet());
      }
    }
  }
  policy.classifier.retryable_codes = codes;
  object->ReportUnknown(UnknownKeys::kWarning);
  return retry;
}

absl::optional<OwnerRetry> ReadRedialRetry(const JsonReader& reader) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return absl::nullopt;
  OwnerRetry retry;
  RetryPolicy& policy = retry.policy;
  ReadInto(object->Optional("maxAttempts"), &policy.max_attempts,
           Attempts(1, NumberForm::kNumber));
  ReadInto(object->Optional("initialBackoff"), &policy.backoff.base,
           DurationAboveZero());
  ReadInto(object->Optional("maxBackoff"), &policy.backoff.max,
           DurationAboveZero());
  ReadInto(object->Optional("backoffMultiplier"), &policy.backoff.multiplier,
           AnyPositiveNumber());
  const absl::optional<JsonReader> list =
      object->Optional("retryableStatusCodes");
  if (list) {
    const absl::optional<JsonArray> array = list->Array();
    if (array && array->empty()) {
      list->Error(absl::StrCat("is empty; must be ", kCodesWanted,
                               ", or left out for redial's own classes"));
    } else if (array) {
      policy.classifier.retryable_codes = ReadFailureCodes(*list);
    }
  }
  object->ReportUnknown(UnknownKeys::kError);
  return retry;
}

void CheckHedgingPolicy(const JsonReader& reader) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return;
  const absl::optional<JsonReader> attempts =
      object->Required("maxAttempts", kAttemptsWanted);
  if (attempts) {
    attempts->Integer(kMinAttempts, kMaxInt, NumberForm::kNumberOrText);
  }
  const absl::optional<JsonReader> delay = object->Optional("hedgingDelay");
  if (delay) delay->Duration();
  const absl::optional<JsonReader> codes =
      object->Optional("nonFatalStatusCodes");
  if (codes) ReadFailureCodes(*codes);
  object->ReportUnknown(UnknownKeys::kWarning);
  reader.Warning(
      "is valid, but this version of redial does not hedge: the calls are sent "
      "once; use retryPolicy to have them retried");
}

absl::optional<ThrottleParameters> ReadRetryThrottling(
    const JsonReader& reader) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return absl::nullopt;
  ThrottleParameters throttle;
  ReadInto(object->Required("maxTokens", "an integer from 1 to 1000"),
           &throttle.max_milli_tokens,
           [](const JsonReader& tokens) -> absl::optional<int64_t> {
             const absl::optional<int64_t> count =
                 tokens.Integer(1, kMaxTokens, NumberForm::kNumberOrText);
             if (!count) return absl::nullopt;
             return *count * 1000;
           });
  ReadInto(object->Required("tokenRatio", "a number, at least 0.001"),
           &throttle.milli_token_ratio, [](const JsonReader& ratio) {
             return ratio.Scaled(3, 1, NumberForm::kNumberOrText);
           });
  object->ReportUnknown(UnknownKeys::kWarning);
  return throttle;
}

}  // namespace redial
