// Every scenario of this folder, through the simulation and through a real gRPC
// channel in both driver modes: the expectations hold and the traces are equal.
#include <dirent.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "proto/redial/v1/scenario.pb.h"
#include "redial/config/duration_text.h"
#include "redial/config/read_file.h"
#include "redial/testing/fixed_random.h"
#include "redial/testing/matchers.h"
#include "tools/redial/scenario/expectations.h"
#include "tools/redial/scenario/grpc_run.h"
#include "tools/redial/scenario/scenario_reader.h"
#include "tools/redial/scenario/scenario_result.h"
#include "tools/redial/scenario/simulation.h"

namespace redial {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

constexpr char kFolder[] = "tests/conformance/";
constexpr uint64_t kSeed = 20240607;

std::vector<std::string> ScenarioNames() {
  std::vector<std::string> names;
  DIR* const folder = opendir(kFolder);
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (absl::EndsWith(name, ".json")) {
      names.push_back(name.substr(0, name.size() - 5));
    }
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

// What has to be equal wherever a scenario runs; times that were measured do
// not belong to it.
std::vector<std::string> TraceOf(const ScenarioResult& result) {
  std::vector<std::string> trace;
  for (size_t i = 0; i < result.calls.size(); ++i) {
    const ScenarioCallResult& call = result.calls[i];
    trace.push_back(absl::StrCat("call ", i + 1, ": ", CodeName(call.code), " ",
                                 StopReasonName(call.report.stop_reason),
                                 " permanent=", call.report.permanent,
                                 " key=", call.report.idempotency_key));
    for (const AttemptRecord& attempt : call.report.attempts) {
      trace.push_back(absl::StrCat(
          "  attempt ", attempt.number, " ", AttemptKindName(attempt.kind), " ",
          CodeName(attempt.code), " ", OutcomeClassName(attempt.outcome_class),
          " after ", DurationText(attempt.wait), " ",
          WaitSourceName(attempt.wait_from)));
    }
    for (const auto& [name, value] : call.trailers) {
      trace.push_back(absl::StrCat("  trailer ", name, "=", value));
    }
  }
  for (const ScenarioServerEntry& entry : result.server) {
    trace.push_back(absl::StrCat("server: attempt ", entry.attempt,
                                 entry.cancelled ? " cancelled" : ""));
    for (const auto& [name, value] : entry.metadata) {
      trace.push_back(absl::StrCat("  metadata ", name, "=", value));
    }
  }
  return trace;
}

class ConformanceTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string Path() {
    return absl::StrCat(kFolder, GetParam(), ".json");
  }

  // Read anew for each run: retry budgets remember.
  static Scenario Read() {
    const ScenarioFile file = ReadScenarioFile(Path());
    for (const ConfigProblem& problem : file.errors) {
      ADD_FAILURE() << problem.ToString();
    }
    for (const ConfigProblem& problem : file.warnings) {
      ADD_FAILURE() << "warning: " << problem.ToString();
    }
    return file.scenario.value_or(Scenario());
  }

  static ScenarioResult Simulated() {
    SeededRandom random(kSeed);
    absl::StatusOr<ScenarioResult> result = RunOnSimulation(Read(), &random);
    EXPECT_THAT(result, IsOk());
    return result.ok() ? *std::move(result) : ScenarioResult();
  }

  static ScenarioResult OnGrpc(DriverMode mode) {
    SeededRandom random(kSeed);
    GrpcRunOptions options;
    options.random = &random;
    options.mode = mode;
    absl::StatusOr<ScenarioResult> result = RunOnGrpc(Read(), options);
    EXPECT_THAT(result, IsOk());
    return result.ok() ? *std::move(result) : ScenarioResult();
  }
};

TEST_P(ConformanceTest, FollowsTheSchema) {
  const absl::StatusOr<std::string> json = ReadJsonFile(Path());
  ASSERT_THAT(json, IsOk());
  redial::v1::Scenario message;
  const auto status =
      google::protobuf::util::JsonStringToMessage(*json, &message);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_GT(message.expect().calls_size(), 0);
}

TEST_P(ConformanceTest, HoldsInTheSimulation) {
  const ScenarioResult result = Simulated();
  EXPECT_THAT(CheckExpectations(Read(), result), IsEmpty());
  EXPECT_THAT(result.violations, IsEmpty());
  EXPECT_EQ(ResultJson(result), ResultJson(Simulated()))
      << "one seed, two results";
}

TEST_P(ConformanceTest, HoldsOnGrpcWithANativeFirstAttempt) {
  const ScenarioResult result = OnGrpc(DriverMode::kNativeFirst);
  EXPECT_THAT(CheckExpectations(Read(), result), IsEmpty());
  EXPECT_THAT(TraceOf(result), ElementsAreArray(TraceOf(Simulated())));
}

TEST_P(ConformanceTest, HoldsOnGrpcWithOwnedAttempts) {
  const ScenarioResult result = OnGrpc(DriverMode::kAlwaysOwned);
  EXPECT_THAT(CheckExpectations(Read(), result), IsEmpty());
  EXPECT_THAT(TraceOf(result), ElementsAreArray(TraceOf(Simulated())));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ConformanceTest,
                         ::testing::ValuesIn(ScenarioNames()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

TEST(ConformanceFolderTest, HasItsScenarios) {
  EXPECT_GE(ScenarioNames().size(), 14u);
}

}  // namespace
}  // namespace redial
