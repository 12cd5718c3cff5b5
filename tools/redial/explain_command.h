// `redial explain`: what will happen to a method under a service config.
//
//   redial explain FILE --method=/package.Service/Method
//       [--idempotency=unknown|idempotent|no-side-effects]
//       [--dialect=grpc|gapic] [--json]
#ifndef TOOLS_REDIAL_EXPLAIN_COMMAND_H_
#define TOOLS_REDIAL_EXPLAIN_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace redial {

// `args`: what stands after "explain". Returns the exit code: 0, 1 if the
// config is invalid, 2 if the arguments are wrong or the file cannot be read.
int RunExplain(absl::Span<const std::string> args, std::ostream& out,
               std::ostream& err);

}  // namespace redial

#endif  // TOOLS_REDIAL_EXPLAIN_COMMAND_H_
