#include "tools/redial/config_file.h"

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "redial/config/advice.h"
#include "redial/config/config_problem.h"
#include "redial/config/read_file.h"
#include "redial/config/service_config.h"
#include "tools/redial/command_arguments.h"
#include "tools/redial/text_layout.h"

namespace redial {
namespace {

std::string CountOf(const std::vector<ConfigProblem>& problems,
                    absl::string_view what) {
  if (problems.size() > ProblemList::kMaxProblems) {
    return absl::StrCat("more than ", ProblemList::kMaxProblems, " ", what,
                        "s");
  }
  return absl::StrCat(problems.size(), " ", what,
                      problems.size() == 1 ? "" : "s");
}

void PrintList(const std::vector<ConfigProblem>& problems,
               const std::string& label, std::ostream& out) {
  for (const ConfigProblem& problem : problems) {
    out << "  " << label << "  "
        << (problem.path.empty() ? "the document" : problem.path) << "\n"
        << Wrapped("      ", problem.message);
  }
}

}  // namespace

int ConfigFile::exit_code() const {
  if (!readable.ok()) return kExitUnusable;
  return valid() ? kExitValid : kExitInvalid;
}

ConfigFile ReadConfigFile(const std::string& path,
                          ServiceConfigDialect dialect) {
  ConfigFile file;
  file.path = path;
  const absl::StatusOr<std::string> json = ReadJsonFile(path);
  file.readable = json.status();
  if (!json.ok()) return file;
  file.result = ServiceConfig::Read(*json, {dialect, path});
  ProblemList warnings;
  for (const ConfigProblem& warning : file.result.warnings) {
    warnings.AddWarning(warning.path, warning.message);
  }
  for (const ConfigProblem& advice : ConfigAdvice(file.result)) {
    warnings.AddWarning(advice.path, advice.message);
  }
  warnings.Sort(*json);
  file.warnings = warnings.warnings();
  return file;
}

void PrintProblems(const ConfigFile& file, const Palette& palette,
                   std::ostream& out) {
  if (!file.readable.ok()) {
    out << palette(Tone::kBad, "unreadable") << ": " << file.readable.message()
        << "\n";
    return;
  }
  out << file.path << ": "
      << (file.valid() ? palette(Tone::kGood, "valid")
                       : palette(Tone::kBad, "invalid"));
  if (!file.result.errors.empty()) {
    out << ", " << CountOf(file.result.errors, "error");
  }
  if (!file.warnings.empty()) {
    out << ", " << CountOf(file.warnings, "warning");
  }
  out << "\n";
  PrintList(file.result.errors, palette(Tone::kBad, "error"), out);
  PrintList(file.warnings, palette(Tone::kDoubtful, "warning"), out);
}

}  // namespace redial
