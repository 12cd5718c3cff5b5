#include "tools/redial/scenario/scenario_result.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "redial/config/duration_text.h"
#include "redial/core/policy.h"
#include "redial/testing/metadata_rules.h"
#include "tools/redial/scenario/json_writer.h"

namespace redial {
namespace {

void WriteDuration(JsonWriter& json, absl::string_view key,
                   absl::Duration value) {
  const bool set =
      value > absl::ZeroDuration() && value != absl::InfiniteDuration();
  json.Key(key).String(set ? DurationText(value) : "0s");
}

// Measured by a clock, where nanoseconds mean nothing.
void WriteMeasured(JsonWriter& json, absl::string_view key,
                   absl::Duration value) {
  WriteDuration(json, key, absl::Trunc(value, absl::Microseconds(1)));
}

void WriteMetadata(JsonWriter& json, absl::string_view key,
                   const ScenarioMetadata& metadata) {
  json.Key(key).BeginObject();
  for (auto it = metadata.begin(); it != metadata.end();) {
    const std::string& name = it->first;
    json.Key(name).BeginArray();
    for (; it != metadata.end() && it->first == name; ++it) {
      json.String(IsBinaryMetadata(name) ? absl::Base64Escape(it->second)
                                         : it->second);
    }
    json.EndArray();
  }
  json.EndObject();
}

void WriteAttempt(JsonWriter& json, const AttemptRecord& attempt) {
  json.BeginObject();
  json.Key("number").Number(attempt.number);
  json.Key("kind").String(AttemptKindName(attempt.kind));
  json.Key("code").String(CodeName(attempt.code));
  json.Key("class").String(OutcomeClassName(attempt.outcome_class));
  WriteDuration(json, "wait", attempt.wait);
  json.Key("waitFrom").String(WaitSourceName(attempt.wait_from));
  WriteMeasured(json, "start", attempt.start);
  WriteMeasured(json, "end", attempt.end);
  json.EndObject();
}

void WriteCall(JsonWriter& json, const ScenarioCallResult& call) {
  json.BeginObject();
  json.Key("code").String(CodeName(call.code));
  json.Key("message").String(call.message);
  json.Key("stopReason").String(StopReasonName(call.report.stop_reason));
  WriteMeasured(json, "elapsed", call.report.elapsed);
  json.Key("idempotencyKey").String(call.report.idempotency_key);
  json.Key("attempts").BeginArray();
  for (const AttemptRecord& attempt : call.report.attempts) {
    WriteAttempt(json, attempt);
  }
  json.EndArray();
  WriteMetadata(json, "trailers", call.trailers);
  json.EndObject();
}

}  // namespace

int AttemptOf(const ScenarioMetadata& metadata, absl::string_view name) {
  for (const absl::string_view key :
       {name, absl::string_view(kGrpcPreviousAttemptsName)}) {
    const auto found = metadata.find(std::string(key));
    int previous = 0;
    if (!key.empty() && found != metadata.end() &&
        absl::SimpleAtoi(found->second, &previous) && previous > 0) {
      return previous + 1;
    }
  }
  return 1;
}

std::string ResultJson(const ScenarioResult& result) {
  JsonWriter json;
  json.BeginObject();
  json.Key("name").String(result.name);
  json.Key("on").String(result.on);
  json.Key("calls").BeginArray();
  for (const ScenarioCallResult& call : result.calls) WriteCall(json, call);
  json.EndArray();
  json.Key("server").BeginArray();
  for (const ScenarioServerEntry& entry : result.server) {
    json.BeginObject();
    json.Key("attempt").Number(entry.attempt);
    WriteMeasured(json, "at", entry.at);
    WriteMetadata(json, "metadata", entry.metadata);
    WriteMeasured(json, "deadline", entry.deadline);
    json.Key("cancelled").Bool(entry.cancelled);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace redial
