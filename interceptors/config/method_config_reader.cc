#include "redial/config/method_config_reader.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/config/core_keys.h"
#include "redial/config/json_path.h"
#include "redial/config/json_reader.h"
#include "redial/config/redial_settings.h"
#include "redial/config/retry_policy_reader.h"
#include "redial/config/service_config_options.h"
#include "redial/core/policy.h"

namespace redial {
namespace {

// Keys of a method's "redial" object that do nothing where nothing is retried.
constexpr absl::string_view kRetryKeys[] = {
    "backoff",         "retryWindow",   "retryOnAttemptTimeout",
    "rules",           "attemptLimits", "pushback",
    "headersCommit",   "retryBudget",   "maxRetainedRequestBytes",
    "maxAttemptsLimit"};

void WarnOfIdleKeys(const JsonObject& redial) {
  for (absl::string_view key : kRetryKeys) {
    if (!redial.Has(key)) continue;
    redial.problems()->AddWarning(
        JsonPathOfKey(redial.path(), key),
        "does nothing, because this entry retries nothing; add \"retry\": {} "
        "beside it, or a retryPolicy");
  }
}

void ClampAttempts(const RedialSettings& settings, const OwnerRetry& retry,
                   const JsonReader& where, RetryPolicy* policy) {
  const int limit = settings.max_attempts_limit.value_or(retry.attempts_limit);
  if (policy->max_attempts <= limit) return;
  if (policy->max_attempts != RetryPolicy::kUnlimitedAttempts) {
    where.problems()->AddWarning(
        JsonPathOfKey(where.path(), "maxAttempts"),
        absl::StrCat(
            "is ", policy->max_attempts, " and counts as ", limit,
            settings.max_attempts_limit
                ? ", as redial.maxAttemptsLimit says"
                : " (gRFC A6); \"redial\": {\"maxAttemptsLimit\": N} lifts the "
                  "limit"));
  }
  policy->max_attempts = limit;
}

}  // namespace

void MethodConfigs::Read(const JsonReader& reader) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return;
  ConfigEntry entry;
  entry.config_path = reader.path();
  const absl::optional<JsonReader> names = object->Optional("name");
  entry.wait_for_ready = CheckMethodCoreKeys(&*object);
  ReadPolicy(&*object, &entry);
  object->ReportUnknown(UnknownKeys::kWarning);
  if (names) {
    ReadNames(*names, entry);
  } else {
    reader.Warning(
        "has no \"name\", so it applies to nothing; \"name\": [{}] makes it "
        "the default");
  }
}

void MethodConfigs::ReadPolicy(JsonObject* object, ConfigEntry* entry) {
  const absl::optional<JsonReader> retry_policy =
      object->Optional("retryPolicy");
  const absl::optional<JsonReader> hedging = object->Optional("hedgingPolicy");
  const absl::optional<JsonReader> timeout = object->Optional("timeout");
  const absl::optional<JsonReader> redial = object->Optional("redial");

  auto policy = std::make_shared<MethodPolicy>();
  policy->origin = entry->config_path;
  absl::optional<OwnerRetry> retry;
  if (retry_policy) retry = ReadRetryPolicy(*retry_policy, dialect_);
  if (hedging) CheckHedgingPolicy(*hedging);
  ReadInto(timeout, &policy->timeout,
           [](const JsonReader& reader) { return reader.Duration(); });
  if (policy->timeout == absl::ZeroDuration()) {
    timeout->Warning("is zero, so every call fails at once");
  }

  RedialSettings settings = defaults_;
  absl::optional<JsonObject> inner;
  if (redial) inner = redial->Object();
  if (inner) {
    settings = ReadRedialSettings(&*inner, defaults_, RedialScope::kMethod);
    const bool both = inner->Has("retry") && (retry_policy || hedging);
    if (both) {
      object->problems()->AddError(
          JsonPathOfKey(inner->path(), "retry"),
          absl::StrCat("stands beside ",
                       retry_policy ? "retryPolicy" : "hedgingPolicy",
                       "; must be the only one of the two"));
    } else if (settings.retry) {
      retry = settings.retry;
    }
  }
  if (retry_policy && hedging) {
    hedging->Error(
        "stands beside retryPolicy; a method config must have at most one of "
        "the two (gRFC A6)");
  }
  if (!retry_policy && !timeout && !redial) return;
  entry->policy = policy;

  const bool retries = retry && !retry->retries_nothing;
  if (retries) policy->retry = retry->policy;
  ApplyRedialSettings(settings, policy.get());
  if (inner && !retries) WarnOfIdleKeys(*inner);
  if (!retries) return;

  const JsonReader where =
      retry_policy ? *retry_policy : *JsonObject(*inner).Optional("retry");
  entry->retry_path = where.path();
  ClampAttempts(settings, *retry, where, &*policy->retry);
  if (retry->attempt_timeout) {
    if (inner && inner->Has("attemptTimeout")) {
      object->problems()->AddError(
          JsonPathOfKey(inner->path(), "attemptTimeout"),
          "stands beside retryPolicy.perAttemptRecvTimeout, which means the "
          "same; one of the two must go");
    }
    policy->attempt_timeout = *retry->attempt_timeout;
  }
  if (policy->retry->max_attempts == RetryPolicy::kUnlimitedAttempts &&
      policy->timeout == absl::InfiniteDuration()) {
    where.Warning(
        "has no maxAttempts, and the entry no timeout: calls without a "
        "deadline of their own are retried for ever; add \"timeout\"");
  }
}

}  // namespace redial
