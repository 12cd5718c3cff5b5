// Small service configs for tests, and what reading them says.
#ifndef TESTS_CONFIG_CONFIG_DOCUMENTS_H_
#define TESTS_CONFIG_CONFIG_DOCUMENTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "redial/config/config_problem.h"
#include "redial/config/service_config.h"
#include "redial/core/policy.h"
#include "redial/core/policy_table.h"

namespace redial {

// A document with one method config, which is the default: `members` stand
// beside its name.
inline std::string DefaultEntry(absl::string_view members) {
  return absl::StrCat(R"({"methodConfig":[{"name":[{}])",
                      members.empty() ? "" : ",", members, "}]}");
}

// retryPolicy with one field in another spelling, or without it.
inline std::string RetryPolicyWith(
    absl::string_view changed_field = "",
    absl::optional<absl::string_view> value = absl::nullopt) {
  const std::vector<std::pair<absl::string_view, absl::string_view>> fields = {
      {"maxAttempts", "3"},
      {"initialBackoff", R"("1s")"},
      {"maxBackoff", R"("120s")"},
      {"backoffMultiplier", "1.6"},
      {"retryableStatusCodes", R"(["ABORTED"])"},
  };
  std::string json = R"("retryPolicy":{)";
  bool found = false;
  for (const auto& field : fields) {
    absl::optional<absl::string_view> text = field.second;
    if (field.first == changed_field) {
      text = value;
      found = true;
    }
    if (!text) continue;
    absl::StrAppend(&json, json.back() == '{' ? "" : ",", "\"", field.first,
                    "\":", *text);
  }
  if (!found && value) {
    absl::StrAppend(&json, ",\"", changed_field, "\":", *value);
  }
  return json + "}";
}

// A method config whose "redial" object has these members, beside an empty
// "retry".
inline std::string RedialEntry(absl::string_view members) {
  return DefaultEntry(absl::StrCat(R"("redial":{"retry":{})",
                                   members.empty() ? "" : ",", members, "}"));
}

inline std::vector<std::string> Lines(
    const std::vector<ConfigProblem>& problems) {
  std::vector<std::string> lines;
  for (const ConfigProblem& problem : problems) {
    lines.push_back(problem.ToString());
  }
  return lines;
}

inline std::vector<std::string> Paths(
    const std::vector<ConfigProblem>& problems) {
  std::vector<std::string> paths;
  for (const ConfigProblem& problem : problems) paths.push_back(problem.path);
  return paths;
}

// The policy of a method; null if there is none or the document is wrong, which
// fails the test.
inline std::shared_ptr<const MethodPolicy> PolicyIn(
    absl::string_view json, absl::string_view method = "/any.Service/Method",
    const ServiceConfigOptions& options = {}) {
  const auto table = ServiceConfig::FromJson(json, options);
  if (!table.ok()) {
    ADD_FAILURE() << json << "\n" << table.status();
    return nullptr;
  }
  const auto* found = (*table)->Find(method);
  return found == nullptr ? nullptr : *found;
}

}  // namespace redial

#endif  // TESTS_CONFIG_CONFIG_DOCUMENTS_H_
