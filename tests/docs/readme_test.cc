// The README's quickstart is the compiled one.
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/redial/command_line.h"

namespace redial {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>());
}

TEST(ReadmeTest, ShowsTheQuickstartThatIsCompiled) {
  const std::string readme = ReadFile("README.md");
  ASSERT_THAT(readme, Not(IsEmpty()));
  const std::vector<std::string> parts = absl::StrSplit(
      ReadFile("examples/quickstart/main.cc"), "// [quickstart]");
  ASSERT_EQ(parts.size(), 3);
  for (absl::string_view line : absl::StrSplit(parts[1], '\n')) {
    absl::ConsumePrefix(&line, "  ");
    EXPECT_THAT(readme, HasSubstr(std::string(line)));
  }
}

TEST(ReadmeTest, ShowsTheServiceConfigThatIsRun) {
  EXPECT_THAT(ReadFile("README.md"),
              HasSubstr(ReadFile("examples/quickstart/service_config.json")));
}

TEST(ReadmeTest, TheServiceConfigThatPeopleCopyIsCleanUnderCheck) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(
      RunRedial({"check", "examples/quickstart/service_config.json"}, out, err),
      0);
  EXPECT_THAT(out.str(), Not(HasSubstr("warning")));
}

}  // namespace
}  // namespace redial
