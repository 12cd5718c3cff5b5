// CommandArguments: what stands after `redial check` and its like.
//
// Flags are --name or --name=value, in any order among the other arguments;
// after "--" nothing is a flag.
//
//   absl::StatusOr<CommandArguments> arguments =
//       CommandArguments::Parse(args, {"json"}, {"dialect"});
//   if (arguments->Has("json")) ...
#ifndef TOOLS_REDIAL_COMMAND_ARGUMENTS_H_
#define TOOLS_REDIAL_COMMAND_ARGUMENTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "redial/config/service_config_options.h"

namespace redial {

// Exit codes of the commands.
inline constexpr int kExitValid = 0;
inline constexpr int kExitInvalid = 1;
// The arguments are wrong or a file cannot be read.
inline constexpr int kExitUnusable = 2;

class CommandArguments {
 public:
  // INVALID_ARGUMENT, in words for the user, for an unknown flag, a switch with
  // a value, or a flag without one or given twice. --help is always known.
  static absl::StatusOr<CommandArguments> Parse(
      absl::Span<const std::string> args,
      absl::Span<const absl::string_view> switches,
      absl::Span<const absl::string_view> values);

  bool Has(absl::string_view flag) const;
  // Empty if the flag is not there.
  absl::string_view Value(absl::string_view flag) const;
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::map<std::string, std::string, std::less<>> flags_;
  std::vector<std::string> files_;
};

// --dialect=grpc|gapic; grpc if it is not there.
absl::StatusOr<ServiceConfigDialect> DialectFlag(
    const CommandArguments& arguments);

}  // namespace redial

#endif  // TOOLS_REDIAL_COMMAND_ARGUMENTS_H_
