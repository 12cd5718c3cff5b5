#include "redial/config/advice.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "redial/config/config_problem.h"
#include "redial/config/duration_text.h"
#include "redial/config/method_config_reader.h"
#include "redial/config/service_config.h"
#include "redial/core/backoff.h"
#include "redial/core/call_report.h"
#include "redial/core/idempotency.h"
#include "redial/core/policy.h"

namespace redial {
namespace {

using Advice = std::vector<ConfigProblem>;

// After a failed connection gRPC waits this long before it tries again.
constexpr absl::Duration Reconnect() { return absl::Seconds(1); }

// No sum of waits needs more terms.
constexpr int kMaxSummedWaits = 1000;

// Codes that do not tell whether the server has acted.
constexpr absl::StatusCode kUnclearCodes[] = {
    absl::StatusCode::kCancelled, absl::StatusCode::kUnknown,
    absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kInternal,
    absl::StatusCode::kDataLoss};

// Codes that another attempt does not change.
constexpr absl::StatusCode kSettledCodes[] = {
    absl::StatusCode::kInvalidArgument,    absl::StatusCode::kNotFound,
    absl::StatusCode::kAlreadyExists,      absl::StatusCode::kPermissionDenied,
    absl::StatusCode::kFailedPrecondition, absl::StatusCode::kOutOfRange,
    absl::StatusCode::kUnimplemented,      absl::StatusCode::kUnauthenticated};

bool Lists(const RetryPolicy& retry, absl::StatusCode code) {
  return retry.classifier.retryable_codes &&
         retry.classifier.retryable_codes->Contains(code);
}

template <size_t N>
std::string Listed(const RetryPolicy& retry,
                   const absl::StatusCode (&codes)[N]) {
  std::vector<absl::string_view> names;
  for (absl::StatusCode code : codes) {
    if (Lists(retry, code)) names.push_back(CodeName(code));
  }
  return absl::StrJoin(names, ", ");
}

bool SafeToRepeat(const MethodPolicy& policy) {
  return MaySendTwice(Idempotency::kUnknown, policy.idempotency,
                      policy.key.generate);
}

void AdviseOnCodes(const ConfigEntry& entry, Advice* advice) {
  const RetryPolicy& retry = *entry.policy->retry;
  const std::string path =
      absl::StrCat(entry.retry_path, ".retryableStatusCodes");
  const std::string unclear = Listed(retry, kUnclearCodes);
  if (!unclear.empty() && !SafeToRepeat(*entry.policy)) {
    advice->push_back(
        {path,
         absl::StrCat("lists ", unclear,
                      ", after which the server may have acted, and nothing "
                      "says that the call may run twice; if it may, say so: "
                      "\"redial\": {\"idempotency\": \"IDEMPOTENT\"}, or send "
                      "a key: {\"idempotencyKey\": {\"generate\": true}}")});
  }
  const std::string settled = Listed(retry, kSettledCodes);
  if (!settled.empty()) {
    advice->push_back(
        {path, absl::StrCat("lists ", settled,
                            ", which another attempt will hardly change")});
  }
  if (Lists(retry, absl::StatusCode::kResourceExhausted)) {
    advice->push_back(
        {path,
         "lists RESOURCE_EXHAUSTED, which also means a message that is too "
         "large and stays so; \"redial\": {\"retry\": {}} retries it only "
         "where the server names a delay"});
  }
}

void AdviseOnWaits(const ConfigEntry& entry, Advice* advice) {
  const MethodPolicy& policy = *entry.policy;
  const RetryPolicy& retry = *policy.retry;
  if (retry.max_attempts == 1) {
    advice->push_back({absl::StrCat(entry.retry_path, ".maxAttempts"),
                       "is 1, so nothing is retried"});
    return;
  }
  if (retry.backoff.base > retry.backoff.max) {
    advice->push_back({absl::StrCat(entry.retry_path, ".initialBackoff"),
                       absl::StrCat("is ", DurationText(retry.backoff.base),
                                    ", longer than maxBackoff, and counts as ",
                                    DurationText(retry.backoff.max))});
  }
  absl::Duration waits;
  absl::Duration previous;
  for (int64_t n = 0; n < retry.max_attempts - 1 && n < kMaxSummedWaits; ++n) {
    previous = BackoffRange(retry.backoff, n, previous).high;
    waits += previous;
  }
  const bool retries_unavailable = !retry.classifier.retryable_codes ||
                                   Lists(retry, absl::StatusCode::kUnavailable);
  if (retries_unavailable && !entry.wait_for_ready && waits < Reconnect() &&
      retry.max_attempts <= kMaxSummedWaits) {
    advice->push_back(
        {entry.retry_path,
         absl::StrCat("waits at most ", DurationText(waits),
                      " in all, but a channel that lost its connection tries "
                      "again only after ",
                      DurationText(Reconnect()),
                      ": until then every attempt is UNAVAILABLE at once; "
                      "lengthen the backoff or set \"waitForReady\": true")});
  }
  if (retry.backoff.base > policy.timeout) {
    advice->push_back({absl::StrCat(entry.config_path, ".timeout"),
                       absl::StrCat("is ", DurationText(policy.timeout),
                                    ", shorter than the first backoff of ",
                                    DurationText(retry.backoff.base),
                                    ": hardly any retry will begin")});
  }
}

void AdviseOnTimeouts(const ConfigEntry& entry, Advice* advice) {
  const MethodPolicy& policy = *entry.policy;
  if (policy.attempt_timeout == absl::InfiniteDuration() ||
      policy.attempt_timeout < policy.timeout) {
    return;
  }
  advice->push_back(
      {absl::StrCat(entry.config_path, ".timeout"),
       absl::StrCat("is ", DurationText(policy.timeout),
                    ", and one attempt may take ",
                    DurationText(policy.attempt_timeout),
                    ": the first that hangs uses up the call; shorten "
                    "attemptTimeout")});
}

void AdviseOnLoad(const ServiceConfigResult& result, Advice* advice) {
  if (result.policy->throttle()) return;
  std::vector<std::string> unlimited;
  int attempts = 0;
  for (const ConfigEntry& entry : result.entries) {
    if (entry.retry_path.empty() || entry.policy->retry->max_attempts == 1 ||
        entry.policy->retry_budget != nullptr) {
      continue;
    }
    attempts = std::max(attempts, entry.policy->retry->max_attempts);
    if (unlimited.empty() || unlimited.back() != entry.config_path) {
      unlimited.push_back(entry.config_path);
    }
  }
  if (unlimited.empty()) return;
  constexpr size_t kMaxNamed = 3;
  const size_t more = unlimited.size() - std::min(unlimited.size(), kMaxNamed);
  unlimited.resize(unlimited.size() - more);
  advice->push_back(
      {"retryThrottling",
       absl::StrCat(
           "is missing, and so is a retryBudget for ",
           absl::StrJoin(unlimited, ", "),
           more > 0 ? absl::StrCat(" and ", more, " more") : std::string(),
           ": a server that fails gets up to ",
           attempts == RetryPolicy::kUnlimitedAttempts
               ? std::string("any number of")
               : absl::StrCat(attempts),
           " times the load; add {\"maxTokens\": 100, \"tokenRatio\": 0.1}")});
}

}  // namespace

std::vector<ConfigProblem> ConfigAdvice(const ServiceConfigResult& result) {
  Advice advice;
  if (result.policy == nullptr) return advice;
  absl::string_view seen;
  for (const ConfigEntry& entry : result.entries) {
    // Several names of one method config share their policy.
    if (entry.policy == nullptr || entry.config_path == seen) continue;
    seen = entry.config_path;
    if (!entry.retry_path.empty()) {
      AdviseOnCodes(entry, &advice);
      AdviseOnWaits(entry, &advice);
    }
    AdviseOnTimeouts(entry, &advice);
  }
  AdviseOnLoad(result, &advice);
  return advice;
}

}  // namespace redial
