#include "tools/redial/check_command.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "redial/config/config_problem.h"
#include "redial/config/service_config_options.h"
#include "tools/redial/command_arguments.h"
#include "tools/redial/config_file.h"
#include "tools/redial/scenario/json_writer.h"
#include "tools/redial/text_layout.h"

namespace redial {
namespace {

constexpr absl::string_view kUsage =
    R"(redial check FILE... [--dialect=grpc|gapic] [--json]

Reads service configs and says whether they are valid: all errors at once, each
with its place and with what would be right, and warnings about what is legal
but unwise.

  --dialect=grpc   as gRFC A6 says (the default)
  --dialect=gapic  as Google's published files are meant: a retryPolicy without
                   maxAttempts retries until the deadline
  --json           the same as JSON

Exit code: 0 all valid (warnings are allowed), 1 one is invalid, 2 the arguments
are wrong or a file cannot be read.
)";

void WriteProblems(absl::string_view key,
                   const std::vector<ConfigProblem>& problems,
                   JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const ConfigProblem& problem : problems) {
    json->BeginObject();
    json->Key("path").String(problem.path);
    json->Key("message").String(problem.message);
    json->EndObject();
  }
  json->EndArray();
}

void WriteJson(const std::vector<ConfigFile>& files, std::ostream& out) {
  JsonWriter json;
  json.BeginObject();
  json.Key("files").BeginArray();
  for (const ConfigFile& file : files) {
    json.BeginObject();
    json.Key("file").String(file.path);
    json.Key("verdict").String(!file.readable.ok() ? "UNREADABLE"
                               : file.valid()      ? "VALID"
                                                   : "INVALID");
    json.Key("unreadableBecause").String(file.readable.message());
    WriteProblems("errors", file.result.errors, &json);
    WriteProblems("warnings", file.warnings, &json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  out << json.text() << "\n";
}

absl::StatusOr<ServiceConfigDialect> ReadDialect(
    const absl::StatusOr<CommandArguments>& arguments) {
  if (!arguments.ok()) return arguments.status();
  if (arguments->files().empty()) {
    return absl::InvalidArgumentError("name at least one file");
  }
  return DialectFlag(*arguments);
}

}  // namespace

int RunCheck(absl::Span<const std::string> args, std::ostream& out,
             std::ostream& err) {
  const absl::StatusOr<CommandArguments> arguments =
      CommandArguments::Parse(args, {"json"}, {"dialect"});
  if (arguments.ok() && arguments->Has("help")) {
    out << kUsage;
    return kExitValid;
  }
  const absl::StatusOr<ServiceConfigDialect> dialect = ReadDialect(arguments);
  if (!dialect.ok()) {
    err << "redial check: " << dialect.status().message() << "\n\n" << kUsage;
    return kExitUnusable;
  }

  std::vector<ConfigFile> files;
  int exit_code = kExitValid;
  for (const std::string& path : arguments->files()) {
    files.push_back(ReadConfigFile(path, *dialect));
    exit_code = std::max(exit_code, files.back().exit_code());
  }
  if (arguments->Has("json")) {
    WriteJson(files, out);
    return exit_code;
  }
  const Palette palette = Palette::For(out);
  for (const ConfigFile& file : files) PrintProblems(file, palette, out);
  return exit_code;
}

}  // namespace redial
