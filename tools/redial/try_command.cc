#include "tools/redial/try_command.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/core/random_source.h"
#include "redial/testing/fixed_random.h"
#include "tools/redial/command_arguments.h"
#include "tools/redial/scenario/expectations.h"
#include "tools/redial/scenario/grpc_run.h"
#include "tools/redial/scenario/scenario_reader.h"
#include "tools/redial/scenario/simulation.h"
#include "tools/redial/scenario/timeline.h"

namespace redial {
namespace {

constexpr absl::string_view kUsage =
    R"(usage: redial try FILE [--on=sim|grpc] [--seed=N] [--json]

Runs a scenario: a policy, the calls of a client, and what a scripted server
answers. Prints a timeline.

  --on=sim    the engine alone, in virtual time
  --on=grpc   a real client and a real server on loopback (the default)
  --seed=N    fixes the jitter
  --json      print the result as one JSON object

Exit code: 0 if every expectation of the file holds, 1 if one does not, 2 if the
file or the arguments are wrong.
)";

struct Arguments {
  std::string file;
  std::string on;
  absl::optional<uint64_t> seed;
  bool json = false;
  bool help = false;
};

absl::StatusOr<Arguments> Parse(absl::Span<const std::string> args) {
  const absl::StatusOr<CommandArguments> flags =
      CommandArguments::Parse(args, {"json"}, {"on", "seed"});
  if (!flags.ok()) return flags.status();
  Arguments parsed;
  parsed.json = flags->Has("json");
  parsed.help = flags->Has("help");
  if (parsed.help) return parsed;
  parsed.on = std::string(flags->Value("on"));
  if (flags->Has("on") && parsed.on != "sim" && parsed.on != "grpc" &&
      parsed.on != "http") {
    return absl::InvalidArgumentError(
        absl::StrCat("--on is ", parsed.on, "; must be sim or grpc"));
  }
  if (flags->Has("seed")) {
    uint64_t seed = 0;
    if (!absl::SimpleAtoi(flags->Value("seed"), &seed)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--seed is ", flags->Value("seed"),
                       "; must be a whole number, at least 0"));
    }
    parsed.seed = seed;
  }
  if (flags->files().size() != 1) {
    return absl::InvalidArgumentError("name one file, that of a scenario");
  }
  parsed.file = flags->files()[0];
  return parsed;
}

void Print(const std::vector<ConfigProblem>& problems,
           absl::string_view severity, const std::string& file,
           std::ostream& err) {
  for (const ConfigProblem& problem : problems) {
    err << file << ": " << severity << ": " << problem.ToString() << "\n";
  }
}

absl::StatusOr<ScenarioResult> Run(const ScenarioFile& file,
                                   const Arguments& arguments) {
  const Scenario& scenario = *file.scenario;
  absl::optional<SeededRandom> seeded;
  if (arguments.seed.has_value()) seeded.emplace(*arguments.seed);
  RandomSource* const random = seeded.has_value() ? &*seeded : &SharedRandom();
  if (arguments.on == "sim") return RunOnSimulation(scenario, random);

  // A call that never ends is found before it is made. Read anew: budgets
  // remember.
  const ScenarioFile again = ReadScenario(file.text, FolderOf(arguments.file));
  if (again.scenario.has_value()) {
    SeededRandom any(0);
    const absl::StatusOr<ScenarioResult> simulated =
        RunOnSimulation(*again.scenario, &any);
    if (!simulated.ok()) return simulated.status();
  }
  GrpcRunOptions options;
  options.random = random;
  return RunOnGrpc(scenario, options);
}

}  // namespace

int RunTry(absl::Span<const std::string> args, std::ostream& out,
           std::ostream& err) {
  absl::StatusOr<Arguments> arguments = Parse(args);
  if (!arguments.ok()) {
    err << "redial try: " << arguments.status().message() << "\n" << kUsage;
    return kExitUnusable;
  }
  if (arguments->help) {
    out << kUsage;
    return kExitValid;
  }
  const ScenarioFile file = ReadScenarioFile(arguments->file);
  Print(file.errors, "error", arguments->file, err);
  Print(file.warnings, "warning", arguments->file, err);
  if (!file.scenario.has_value()) return kExitUnusable;
  const Scenario& scenario = *file.scenario;

  if (arguments->on.empty()) {
    arguments->on = scenario.has_grpc_call() ? "grpc" : "http";
  }
  if (arguments->on == "http") {
    err << arguments->file
        << ": error: HTTP is not in this version of redial; --on=sim and "
           "--on=grpc run calls that have \"grpc\"\n";
    return kExitUnusable;
  }
  const absl::StatusOr<ScenarioResult> result = Run(file, *arguments);
  if (!result.ok()) {
    err << arguments->file << ": error: " << result.status().message() << "\n";
    return kExitUnusable;
  }
  const std::vector<std::string> failures =
      CheckExpectations(scenario, *result);
  if (arguments->json) {
    out << ResultJson(*result);
    for (const std::string& failure : failures) {
      err << arguments->file << ": not as expected: " << failure << "\n";
    }
  } else {
    const bool color = ColorOnStandardOutput();
    PrintTimeline(scenario, *result, color, out);
    PrintExpectations(scenario, failures, color, out);
  }
  out.flush();
  return failures.empty() ? kExitValid : kExitInvalid;
}

}  // namespace redial
