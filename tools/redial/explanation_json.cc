// An Explanation as JSON.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "redial/config/duration_text.h"
#include "redial/core/backoff.h"
#include "redial/core/call_report.h"
#include "redial/core/policy.h"
#include "tools/redial/explanation.h"
#include "tools/redial/scenario/json_writer.h"

namespace redial {
namespace {

absl::string_view MatchName(EntryMatch match) {
  switch (match) {
    case EntryMatch::kMethod:
      return "METHOD";
    case EntryMatch::kService:
      return "SERVICE";
    case EntryMatch::kDefault:
      return "DEFAULT";
    case EntryMatch::kNone:
      break;
  }
  return "NONE";
}

void WriteRange(absl::string_view key, const DelayRange& range,
                JsonWriter* json) {
  json->Key(key).BeginObject();
  json->Key("low").String(DurationText(range.low));
  json->Key("high").String(DurationText(range.high));
  json->EndObject();
}

void WriteVerdicts(absl::string_view key, absl::string_view name,
                   const std::vector<OutcomeVerdict>& verdicts,
                   JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const OutcomeVerdict& verdict : verdicts) {
    json->BeginObject();
    json->Key(name).String(verdict.outcome);
    json->Key("class").String(OutcomeClassName(verdict.outcome_class));
    json->Key("retried").Bool(verdict.retried);
    json->Key("why").String(verdict.why);
    WriteRange("wait", verdict.wait, json);
    json->Key("waitFrom").String(WaitSourceName(verdict.wait_from));
    json->EndObject();
  }
  json->EndArray();
}

void WritePolicy(const Explanation& e, JsonWriter* json) {
  const MethodPolicy& policy = *e.policy;
  json->Key("mayRunTwice").Bool(e.may_send_twice);
  // Unlimited is the largest number there is, and said in words beside it.
  json->Key("maxAttempts")
      .Number(policy.retry ? policy.retry->max_attempts : 1);
  json->Key("unlimitedAttempts")
      .Bool(policy.retry &&
            policy.retry->max_attempts == RetryPolicy::kUnlimitedAttempts);
  WriteVerdicts("codes", "code", e.codes, json);
  WriteVerdicts("special", "outcome", e.special, json);
  WriteVerdicts("pushback", "server", e.pushback, json);
  json->Key("waits").BeginArray();
  for (const ExplainedWait& wait : e.waits) {
    json->BeginObject();
    json->Key("beforeAttempt").Number(wait.before_attempt);
    WriteRange("wait", wait.wait, json);
    WriteRange("sum", wait.sum, json);
    json->EndObject();
  }
  json->EndArray();
  json->Key("waitsLeftOut").Number(e.waits_left_out);
  json->Key("timeout").String(DurationText(policy.timeout));
  json->Key("attemptTimeout").String(DurationText(policy.attempt_timeout));
  json->Key("retryWindow").String(DurationText(policy.retry_window));
  json->Key("worstCase").String(DurationText(e.worst_case));
  json->Key("inheritDeadline").Bool(policy.inherit_deadline);
  json->Key("deadlineReserve").String(DurationText(policy.deadline_reserve));
  json->Key("failuresToThrottle").Number(e.failures_to_throttle);
  json->Key("retryBudget")
      .String(policy.retry_budget == nullptr ? std::string()
                                             : policy.retry_budget->Describe());
  json->Key("idempotencyKey").BeginObject();
  json->Key("generate").Bool(policy.key.generate);
  json->Key("name").String(policy.key.name);
  json->EndObject();
  json->Key("previousAttemptsMetadata").String(policy.previous_attempts_name);
}

}  // namespace

std::string ExplanationJson(const Explanation& explanation,
                            absl::string_view file_name) {
  JsonWriter json;
  json.BeginObject();
  json.Key("file").String(file_name);
  json.Key("method").String(explanation.method);
  json.Key("entry").BeginObject();
  json.Key("match").String(MatchName(explanation.match));
  json.Key("path").String(explanation.name_path);
  json.EndObject();
  json.Key("hasPolicy").Bool(explanation.policy != nullptr);
  if (explanation.policy != nullptr) WritePolicy(explanation, &json);
  json.EndObject();
  return json.text();
}

}  // namespace redial
