// Runs each example as a user would: as a program, against a real server.
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/testing/scripted_grpc_server.h"

namespace redial {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

struct ProgramResult {
  int exit_code = -1;
  std::string output;
};

ProgramResult RunProgram(const std::string& command) {
  ProgramResult result;
  FILE* const pipe = popen(absl::StrCat(command, " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer;
  size_t count = 0;
  while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    result.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::vector<Answer> OneRefusal() {
  return {Answer::Error(grpc::StatusCode::UNAVAILABLE, "warming up"),
          Answer::Ok()};
}

TEST(ExamplesTest, QuickstartSurvivesARefusal) {
  ScriptedGrpcServer server(OneRefusal());
  const ProgramResult result = RunProgram(
      absl::StrCat("examples/quickstart/quickstart ", server.target(),
                   " examples/quickstart/service_config.json"));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(result.output, "hello\n");
  EXPECT_THAT(server.Requests(), SizeIs(2));
}

TEST(ExamplesTest, QuickstartNamesABadConfig) {
  const ProgramResult result = RunProgram(
      "examples/quickstart/quickstart localhost:1 no_such_file.json");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("no_such_file.json"));
}

TEST(ExamplesTest, OwnChannelSignsEachAttempt) {
  ScriptedGrpcServer server(OneRefusal());
  const ProgramResult result = RunProgram(
      absl::StrCat("examples/own_channel/own_channel ", server.target()));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("signed hello"));
  const auto requests = server.Requests();
  ASSERT_THAT(requests, SizeIs(2));
  for (const ScriptedGrpcRequest& request : requests) {
    EXPECT_EQ(request.metadata.count("x-signature"), 1);
  }
}

TEST(ExamplesTest, CallOptionsPrintTheReport) {
  ScriptedGrpcServer server(OneRefusal());
  const ProgramResult result = RunProgram(
      absl::StrCat("examples/call_options/call_options ", server.target()));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("OK after 2 attempts"));
  EXPECT_THAT(result.output, HasSubstr("attempt 2: OK"));
  const auto requests = server.Requests();
  ASSERT_THAT(requests, SizeIs(2));
  for (const ScriptedGrpcRequest& request : requests) {
    EXPECT_EQ(request.metadata.find("idempotency-key")->second, "build-8812");
  }
}

TEST(ExamplesTest, DeadlineIsPassedOn) {
  ScriptedGrpcServer server(OneRefusal());
  const ProgramResult result =
      RunProgram(absl::StrCat("examples/deadline/deadline ", server.target()));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto requests = server.Requests();
  ASSERT_THAT(requests, SizeIs(2));
  for (const ScriptedGrpcRequest& request : requests) {
    EXPECT_LT(request.remaining, absl::Seconds(1));
  }
}

}  // namespace
}  // namespace redial
