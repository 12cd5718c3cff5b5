// `redial try`: runs a scenario and shows what happened.
//
//   redial try FILE [--on=sim|grpc] [--seed=N] [--json]
#ifndef TOOLS_REDIAL_TRY_COMMAND_H_
#define TOOLS_REDIAL_TRY_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace redial {

// `args`: what stands after "try". Returns the exit code: 0 if every
// expectation holds, 1 if one does not, 2 if the arguments or the file are
// wrong.
int RunTry(absl::Span<const std::string> args, std::ostream& out,
           std::ostream& err);

}  // namespace redial

#endif  // TOOLS_REDIAL_TRY_COMMAND_H_
