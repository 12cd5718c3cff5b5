// ConfigFile: a service config as the commands see it: read, with advice.
//
//   ConfigFile file = ReadConfigFile("service_config.json", dialect);
//   PrintProblems(file, palette, out);
#ifndef TOOLS_REDIAL_CONFIG_FILE_H_
#define TOOLS_REDIAL_CONFIG_FILE_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "redial/config/config_problem.h"
#include "redial/config/service_config.h"
#include "tools/redial/text_layout.h"

namespace redial {

struct ConfigFile {
  std::string path;
  // Not OK: the file could not be read, and the rest is empty.
  absl::Status readable;
  ServiceConfigResult result;
  // Of the reader and the advice, in the order of the document.
  std::vector<ConfigProblem> warnings;

  bool valid() const { return readable.ok() && result.policy != nullptr; }
  // kExitValid, kExitInvalid or kExitUnusable.
  int exit_code() const;
};

ConfigFile ReadConfigFile(const std::string& path,
                          ServiceConfigDialect dialect);

// The verdict in one line, then each problem.
void PrintProblems(const ConfigFile& file, const Palette& palette,
                   std::ostream& out);

}  // namespace redial

#endif  // TOOLS_REDIAL_CONFIG_FILE_H_
