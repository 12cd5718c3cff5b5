#include "tools/redial/explain_command.h"

#include <cstddef>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "redial/config/service_config_options.h"
#include "redial/core/idempotency.h"
#include "tools/redial/command_arguments.h"
#include "tools/redial/config_file.h"
#include "tools/redial/explanation.h"
#include "tools/redial/text_layout.h"

namespace redial {
namespace {

constexpr absl::string_view kUsage =
    R"(redial explain FILE --method=/package.Service/Method [FLAGS]

Says what redial will do for a method: which entry of the service config holds
and why, what each status code leads to, the waits, what delays that the server
asks for and budgets change, and how long a call can take at most.

  --method=/package.Service/Method
                   the method, as gRPC names it
  --idempotency=unknown|idempotent|no-side-effects
                   the idempotency_level of the method's descriptor (default
                   unknown)
  --dialect=grpc|gapic
                   as for `redial check`
  --json           the same as JSON

Exit code: 0, 1 the config is invalid, 2 the arguments are wrong or the file
cannot be read.
)";

struct Request {
  std::string file;
  std::string method;
  Idempotency idempotency = Idempotency::kUnknown;
  ServiceConfigDialect dialect = ServiceConfigDialect::kGrpc;
};

bool IsFullMethod(absl::string_view method) {
  const size_t slash = method.rfind('/');
  return !method.empty() && method[0] == '/' && slash > 1 &&
         slash + 1 < method.size() &&
         method.substr(1, slash - 1).find('/') == method.npos;
}

absl::StatusOr<Request> ReadRequest(
    const absl::StatusOr<CommandArguments>& parsed) {
  if (!parsed.ok()) return parsed.status();
  const CommandArguments& arguments = *parsed;
  Request request;
  if (arguments.files().size() != 1) {
    return absl::InvalidArgumentError("name one file");
  }
  request.file = arguments.files()[0];
  request.method = std::string(arguments.Value("method"));
  if (!IsFullMethod(request.method)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--method is \"", request.method,
                     "\"; must be as in --method=/package.Service/Method"));
  }
  const absl::string_view idempotency = arguments.Value("idempotency");
  if (idempotency == "idempotent") {
    request.idempotency = Idempotency::kIdempotent;
  } else if (idempotency == "no-side-effects") {
    request.idempotency = Idempotency::kNoSideEffects;
  } else if (idempotency != "unknown" && arguments.Has("idempotency")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--idempotency is ", idempotency,
                     "; must be unknown, idempotent or no-side-effects"));
  }
  const absl::StatusOr<ServiceConfigDialect> dialect = DialectFlag(arguments);
  if (!dialect.ok()) return dialect.status();
  request.dialect = *dialect;
  return request;
}

}  // namespace

int RunExplain(absl::Span<const std::string> args, std::ostream& out,
               std::ostream& err) {
  const absl::StatusOr<CommandArguments> arguments = CommandArguments::Parse(
      args, {"json"}, {"method", "idempotency", "dialect"});
  if (arguments.ok() && arguments->Has("help")) {
    out << kUsage;
    return kExitValid;
  }
  const absl::StatusOr<Request> request = ReadRequest(arguments);
  if (!request.ok()) {
    err << "redial explain: " << request.status().message() << "\n\n" << kUsage;
    return kExitUnusable;
  }
  const ConfigFile file = ReadConfigFile(request->file, request->dialect);
  if (!file.valid()) {
    PrintProblems(file, Palette::For(err), err);
    return file.exit_code();
  }
  const Explanation explanation =
      Explain(file.result, request->method, request->idempotency);
  if (arguments->Has("json")) {
    out << ExplanationJson(explanation, request->file) << "\n";
  } else {
    PrintExplanation(explanation, request->file, Palette::For(out), out);
  }
  return kExitValid;
}

}  // namespace redial
