#include "tools/redial/command_arguments.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "redial/config/service_config_options.h"

namespace redial {
namespace {

bool Contains(absl::Span<const absl::string_view> names,
              absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::StatusOr<CommandArguments> CommandArguments::Parse(
    absl::Span<const std::string> args,
    absl::Span<const absl::string_view> switches,
    absl::Span<const absl::string_view> values) {
  CommandArguments result;
  bool only_files = false;
  for (const std::string& arg : args) {
    absl::string_view flag = arg;
    if (!only_files && arg == "--") {
      only_files = true;
      continue;
    }
    if (only_files || !absl::ConsumePrefix(&flag, "--")) {
      if (!only_files && arg.size() > 1 && arg[0] == '-') {
        return absl::InvalidArgumentError(
            absl::StrCat("unknown flag ", arg, "; flags begin with --"));
      }
      result.files_.push_back(arg);
      continue;
    }
    const size_t equals = flag.find('=');
    const absl::string_view name = flag.substr(0, equals);
    const bool has_value = equals != flag.npos;
    const bool is_switch = name == "help" || Contains(switches, name);
    if (!is_switch && !Contains(values, name)) {
      return absl::InvalidArgumentError(absl::StrCat("unknown flag --", name));
    }
    if (is_switch && has_value) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " takes no value"));
    }
    if (!is_switch && !has_value) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " needs a value: --", name, "=..."));
    }
    const std::string value(has_value ? flag.substr(equals + 1) : "");
    if (!result.flags_.emplace(name, value).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " is given twice"));
    }
  }
  return result;
}

bool CommandArguments::Has(absl::string_view flag) const {
  return flags_.find(flag) != flags_.end();
}

absl::string_view CommandArguments::Value(absl::string_view flag) const {
  const auto found = flags_.find(flag);
  return found == flags_.end() ? absl::string_view() : found->second;
}

absl::StatusOr<ServiceConfigDialect> DialectFlag(
    const CommandArguments& arguments) {
  const absl::string_view dialect = arguments.Value("dialect");
  if (dialect == "gapic") return ServiceConfigDialect::kGapic;
  if (dialect == "grpc" || !arguments.Has("dialect")) {
    return ServiceConfigDialect::kGrpc;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--dialect is ", dialect, "; must be grpc or gapic"));
}

}  // namespace redial
