// ScenarioReader: from the JSON of a scenario to a Scenario.
//
// Strict and total: every problem of the document and of the service config in
// it comes at once, each with its path. What gRPC would abort on (illegal
// metadata, method names without a slash) is a problem here. Thread-safe.
//
//   ScenarioFile file = ReadScenarioFile("scenario.json");
//   if (!file.errors.empty()) ...
//   Run(*file.scenario);
#ifndef TOOLS_REDIAL_SCENARIO_SCENARIO_READER_H_
#define TOOLS_REDIAL_SCENARIO_SCENARIO_READER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/config/config_problem.h"
#include "tools/redial/scenario/scenario.h"

namespace redial {

struct ScenarioFile {
  // Absent if there are errors.
  absl::optional<Scenario> scenario;
  std::vector<ConfigProblem> errors;
  std::vector<ConfigProblem> warnings;
  // As it was read: a pipe can be read only once.
  std::string text;
};

// `folder`: where a serviceConfigFile is looked for; may be empty.
ScenarioFile ReadScenario(absl::string_view json, const std::string& folder);

// The folder in which the file stands; empty where `path` names none.
std::string FolderOf(const std::string& path);

// A file that cannot be read is an error without a path.
ScenarioFile ReadScenarioFile(const std::string& path);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_SCENARIO_READER_H_
