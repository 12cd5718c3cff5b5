// ScenarioResult: what happened when a scenario was run, on any transport.
//
//   std::cout << ResultJson(result);
#ifndef TOOLS_REDIAL_SCENARIO_SCENARIO_RESULT_H_
#define TOOLS_REDIAL_SCENARIO_SCENARIO_RESULT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "redial/core/call_report.h"
#include "tools/redial/scenario/scenario.h"

namespace redial {

struct ScenarioCallResult {
  // Which entry of the scenario's calls it was, and when it began, from the
  // start of the scenario.
  size_t entry = 0;
  absl::Duration began;
  // What the caller was told.
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message;
  ScenarioMetadata trailers;
  // The engine's own account.
  CallReport report;
};

// One attempt as the server saw it.
struct ScenarioServerEntry {
  // From the metadata that tells it: 1 if there is none.
  int attempt = 1;
  // From the start of the scenario.
  absl::Duration at;
  ScenarioMetadata metadata;
  // What was left; infinite if there was no deadline.
  absl::Duration deadline = absl::InfiniteDuration();
  bool cancelled = false;
};

struct ScenarioResult {
  std::string name;
  // "sim" or "grpc".
  std::string on;
  // In order of start.
  std::vector<ScenarioCallResult> calls;
  // In order of arrival.
  std::vector<ScenarioServerEntry> server;
  // Broken promises of the engine, which only a simulation sees. Not part of
  // the JSON.
  std::vector<std::string> violations;
};

// The attempt that a request's metadata says it is; `name` is that of the
// policy (MethodPolicy::previous_attempts_name).
int AttemptOf(const ScenarioMetadata& metadata, absl::string_view name);

// One object, with every field always there: what is not set is zero or empty,
// a duration "0s".
std::string ResultJson(const ScenarioResult& result);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_SCENARIO_RESULT_H_
