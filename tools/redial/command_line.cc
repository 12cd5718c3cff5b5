#include "tools/redial/command_line.h"

#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/redial/check_command.h"
#include "tools/redial/command_arguments.h"
#include "tools/redial/explain_command.h"
#include "tools/redial/text_layout.h"
#include "tools/redial/try_command.h"

namespace redial {
namespace {

struct Command {
  absl::string_view name;
  int (*run)(absl::Span<const std::string> args, std::ostream& out,
             std::ostream& err);
  absl::string_view summary;
};

constexpr Command kCommands[] = {
    {"check", RunCheck, "is a service config valid, and is it wise"},
    {"explain", RunExplain, "what a service config means for a method"},
    {"try", RunTry, "run a scenario and show what happens"},
};

void PrintUsage(std::ostream& out) {
  out << "redial COMMAND [ARGUMENTS]\n\n";
  for (const Command& command : kCommands) {
    out << "  " << Padded(command.name, 11) << command.summary << "\n";
  }
  out << "\nredial COMMAND --help says more; redial --version the version.\n";
}

}  // namespace

int RunRedial(absl::Span<const std::string> args, std::ostream& out,
              std::ostream& err) {
  const std::string name = args.empty() ? std::string() : args[0];
  if (name == "--help" || name == "-h" || name == "help") {
    PrintUsage(out);
    return kExitValid;
  }
  if (name == "--version") {
    out << "redial " << kRedialVersion << "\n";
    return kExitValid;
  }
  for (const Command& command : kCommands) {
    if (command.name == name) return command.run(args.subspan(1), out, err);
  }
  if (!name.empty()) err << "redial: unknown command " << name << "\n\n";
  PrintUsage(err);
  return kExitUnusable;
}

}  // namespace redial
