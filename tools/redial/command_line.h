// The command `redial`: finds the subcommand and runs it.
//
// A new subcommand is one line of the table in command_line.cc.
#ifndef TOOLS_REDIAL_COMMAND_LINE_H_
#define TOOLS_REDIAL_COMMAND_LINE_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace redial {

inline constexpr char kRedialVersion[] = "0.1.0";

// `args`: what stands after "redial". Returns the exit code.
int RunRedial(absl::Span<const std::string> args, std::ostream& out,
              std::ostream& err);

}  // namespace redial

#endif  // TOOLS_REDIAL_COMMAND_LINE_H_
