// The direction of dependencies between packages, read from build queries.
//
// A label of another repository prints as @com_google_absl//absl/time:time, or
// with modules as @@abseil-cpp~//absl/time:time (the separator varies).

#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

// Tests run in the root of their data files.
std::vector<std::string> DependenciesOf(absl::string_view package) {
  std::ifstream file(absl::StrCat("tests/build/", package, "_deps"));
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) {
    // The main repository may be spelled out.
    absl::string_view label = line;
    if (absl::StartsWith(label, "@@//")) absl::ConsumePrefix(&label, "@@");
    if (absl::StartsWith(label, "@//")) absl::ConsumePrefix(&label, "@");
    if (!label.empty()) labels.emplace_back(label);
  }
  return labels;
}

bool IsIn(absl::string_view label, absl::string_view package) {
  absl::string_view rest = label;
  return absl::ConsumePrefix(&rest, absl::StrCat("//interceptors/", package)) &&
         (absl::StartsWith(rest, ":") || absl::StartsWith(rest, "/"));
}

bool IsAbseil(absl::string_view label) {
  return absl::StartsWith(label, "@com_google_absl//") ||
         absl::StartsWith(label, "@@com_google_absl//") ||
         absl::StartsWith(label, "@abseil-cpp") ||
         absl::StartsWith(label, "@@abseil-cpp");
}

bool IsGrpc(absl::string_view label) {
  return absl::StartsWith(label, "@com_github_grpc_grpc//") ||
         absl::StartsWith(label, "@@com_github_grpc_grpc//") ||
         absl::StartsWith(label, "@grpc") || absl::StartsWith(label, "@@grpc");
}

TEST(DependencyTest, CoreNeedsAbseilAndItselfAlone) {
  const std::vector<std::string> labels = DependenciesOf("core");
  ASSERT_THAT(labels, Contains("//interceptors/core:core"));
  for (const std::string& label : labels) {
    EXPECT_TRUE(IsIn(label, "core") || IsAbseil(label)) << label;
  }
}

struct Forbidden {
  std::string name;  // Of the package, and of the test.
  std::vector<std::string> packages;
  bool grpc_library;
};

void PrintTo(const Forbidden& forbidden, std::ostream* out) {
  *out << forbidden.name;
}

class PackageTest : public testing::TestWithParam<Forbidden> {};

TEST_P(PackageTest, DoesNotReach) {
  const std::string& package = GetParam().name;
  const std::vector<std::string> labels = DependenciesOf(package);
  ASSERT_THAT(labels,
              Contains(absl::StrCat("//interceptors/", package, ":", package)));
  std::vector<std::string> found;
  for (const std::string& label : labels) {
    for (const std::string& forbidden : GetParam().packages) {
      if (IsIn(label, forbidden)) found.push_back(label);
    }
    if (GetParam().grpc_library && IsGrpc(label)) found.push_back(label);
  }
  EXPECT_THAT(found, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Packages, PackageTest,
    testing::Values(
        Forbidden{"grpc", {"config", "http", "observe", "testing"}, false},
        Forbidden{"config", {"grpc", "http", "observe", "testing"}, true}),
    [](const testing::TestParamInfo<Forbidden>& info) {
      return info.param.name;
    });

}  // namespace
