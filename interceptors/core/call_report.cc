#include "redial/core/call_report.h"

#include <array>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace redial {
namespace {

struct ReasonName {
  absl::string_view name;
  absl::string_view text;
};

constexpr std::array<ReasonName, 18> kReasons = {{
    {"SUCCESS", "success"},
    {"PERMANENT", "not an error that is retried"},
    {"NOT_IDEMPOTENT",
     "the server may have acted and the method is not idempotent"},
    {"ATTEMPTS_EXHAUSTED", "attempts exhausted"},
    {"DEADLINE", "no time left before the deadline"},
    {"CANCELLED", "cancelled by the caller"},
    {"PUSHBACK_STOP", "the server asked not to retry"},
    {"PUSHBACK_TOO_LONG", "the server asked for a longer wait than allowed"},
    {"THROTTLED", "retries are throttled: too many calls fail"},
    {"BUDGET_EXHAUSTED", "the retry budget is used up"},
    {"REQUEST_BUDGET", "the request budget is used up"},
    {"RETRY_WINDOW", "the retry window is over"},
    {"COMMITTED", "the answer had begun"},
    {"NOT_REPLAYABLE", "the request cannot be sent again"},
    {"UNKNOWN_MESSAGE_TYPE", "the response object is of an unknown type"},
    {"NO_POLICY", "no retry policy covers the method"},
    {"REJECTED", "refused before it was sent"},
    {"SHUTDOWN", "redial was shut down"},
}};

constexpr std::array<absl::string_view, 3> kKinds = {"FIRST", "RETRY", "HEDGE"};

constexpr std::array<absl::string_view, 8> kClasses = {
    "SUCCESS",         "UNPROCESSED", "TRANSIENT", "THROTTLED",
    "ATTEMPT_TIMEOUT", "PERMANENT",   "CANCELLED", "DEADLINE"};

constexpr std::array<absl::string_view, 7> kSources = {
    "NONE",        "BACKOFF", "PUSHBACK", "RETRY_INFO",
    "RETRY_AFTER", "PACING",  "HEDGE"};

// By the number of the canonical code.
constexpr std::array<absl::string_view, 17> kCodes = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

}  // namespace

absl::string_view StopReasonName(StopReason reason) {
  return kReasons[static_cast<size_t>(reason)].name;
}

absl::string_view StopReasonText(StopReason reason) {
  return kReasons[static_cast<size_t>(reason)].text;
}

absl::string_view AttemptKindName(AttemptKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

absl::string_view OutcomeClassName(OutcomeClass outcome_class) {
  return kClasses[static_cast<size_t>(outcome_class)];
}

absl::string_view WaitSourceName(WaitSource source) {
  return kSources[static_cast<size_t>(source)];
}

absl::string_view CodeName(absl::StatusCode code) {
  const auto number = static_cast<size_t>(code);
  return number < kCodes.size() ? kCodes[number] : kCodes[2];
}

absl::optional<absl::StatusCode> CodeFromName(absl::string_view name) {
  for (size_t number = 0; number < kCodes.size(); ++number) {
    if (absl::EqualsIgnoreCase(name, kCodes[number])) {
      return static_cast<absl::StatusCode>(number);
    }
  }
  return absl::nullopt;
}

std::string CallReport::Summary() const {
  const absl::Duration shown = absl::Trunc(elapsed, absl::Milliseconds(1));
  std::string text = absl::StrCat(
      CodeName(code), " after ", attempts.size(),
      attempts.size() == 1 ? " attempt in " : " attempts in ",
      shown == absl::ZeroDuration() ? "<1ms" : absl::FormatDuration(shown));
  if (stop_reason != StopReason::kSuccess) {
    absl::StrAppend(&text, ": ", StopReasonText(stop_reason));
  }
  if (retry_after.has_value()) {
    absl::StrAppend(&text, " (server asked for ",
                    absl::FormatDuration(*retry_after), ")");
  }
  return text;
}

}  // namespace redial
