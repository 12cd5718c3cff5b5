// `redial check`: is a service config valid, and is it wise.
//
//   redial check FILE... [--dialect=grpc|gapic] [--json]
#ifndef TOOLS_REDIAL_CHECK_COMMAND_H_
#define TOOLS_REDIAL_CHECK_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace redial {

// `args`: what stands after "check". Returns the exit code: 0 if all files are
// valid, warnings or not, 1 if one is invalid, 2 if the arguments are wrong or
// a file cannot be read.
int RunCheck(absl::Span<const std::string> args, std::ostream& out,
             std::ostream& err);

}  // namespace redial

#endif  // TOOLS_REDIAL_CHECK_COMMAND_H_
