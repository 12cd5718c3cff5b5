#include "redial/config/service_config.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/config/config_problem.h"
#include "redial/config/core_keys.h"
#include "redial/config/json_document.h"
#include "redial/config/json_reader.h"
#include "redial/config/method_config_reader.h"
#include "redial/config/read_file.h"
#include "redial/config/redial_settings.h"
#include "redial/config/retry_policy_reader.h"
#include "redial/config/service_config_options.h"
#include "redial/core/policy_table.h"

namespace redial {
namespace {

bool AnyPolicy(const std::vector<ConfigEntry>& entries) {
  for (const ConfigEntry& entry : entries) {
    if (entry.policy != nullptr) return true;
  }
  return false;
}

std::shared_ptr<PolicyTable> ReadDocument(const JsonReader& root,
                                          ServiceConfigDialect dialect,
                                          std::vector<ConfigEntry>* entries) {
  auto table = std::make_shared<PolicyTable>();
  absl::optional<JsonObject> object = root.Object();
  if (!object) return table;

  RedialSettings defaults;
  const absl::optional<JsonReader> redial = object->Optional("redial");
  if (redial) {
    absl::optional<JsonObject> inner = redial->Object();
    if (inner) {
      defaults = ReadRedialSettings(&*inner, {}, RedialScope::kDocument);
    }
  }
  const absl::optional<JsonReader> list = object->Optional("methodConfig");
  MethodConfigs configs(dialect, std::move(defaults));
  if (list) {
    const absl::optional<JsonArray> array = list->Array();
    for (size_t i = 0; array && i < array->size(); ++i) {
      configs.Read((*array)[i]);
    }
  }
  const absl::optional<JsonReader> throttling =
      object->Optional("retryThrottling");
  if (throttling) {
    const auto throttle = ReadRetryThrottling(*throttling);
    if (throttle) table->set_throttle(*throttle);
  }
  CheckDocumentCoreKeys(&*object);
  object->ReportUnknown(UnknownKeys::kWarning);

  *entries = configs.entries();
  for (const ConfigEntry& entry : *entries) {
    table->Add(entry.service, entry.method, entry.policy);
  }
  if (!root.problems()->has_errors() && !AnyPolicy(*entries)) {
    root.Warning(
        "nothing in this config applies to redial: no call will be retried; a "
        "policy stands in \"methodConfig\": [{\"name\": [...], "
        "\"retryPolicy\": "
        "{...}}]");
  }
  return table;
}

ServiceConfigOptions Named(const std::string& path,
                           ServiceConfigOptions options) {
  if (options.source_name.empty()) options.source_name = path;
  return options;
}

}  // namespace

absl::Status ServiceConfigResult::ToStatus() const {
  return StatusOfProblems(source_name, errors);
}

ServiceConfigResult ServiceConfig::Read(absl::string_view json,
                                        const ServiceConfigOptions& options) {
  ServiceConfigResult result;
  result.source_name = options.source_name;
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(json);
  if (!document.ok()) {
    result.errors.push_back({"", std::string(document.status().message())});
    return result;
  }
  ProblemList problems;
  std::shared_ptr<PolicyTable> table =
      ReadDocument(JsonReader(document->root(), "", &problems), options.dialect,
                   &result.entries);
  problems.Sort(json);
  result.errors = problems.errors();
  result.warnings = problems.warnings();
  if (result.errors.empty()) {
    table->set_core_config(CoreConfig(json));
    result.policy = std::move(table);
  }
  return result;
}

absl::StatusOr<std::shared_ptr<const PolicyTable>> ServiceConfig::FromJson(
    absl::string_view json, const ServiceConfigOptions& options) {
  ServiceConfigResult result = Read(json, options);
  if (result.policy == nullptr) return result.ToStatus();
  return std::move(result.policy);
}

absl::StatusOr<std::shared_ptr<const PolicyTable>> ServiceConfig::FromJsonFile(
    const std::string& path, const ServiceConfigOptions& options) {
  const absl::StatusOr<std::string> json = ReadJsonFile(path);
  if (!json.ok()) return json.status();
  return FromJson(*json, Named(path, options));
}

absl::Status ServiceConfig::ReloadJsonFile(
    const std::string& path, LivePolicy* live,
    const ServiceConfigOptions& options) {
  auto policy = FromJsonFile(path, options);
  if (!policy.ok()) return policy.status();
  live->Store(*std::move(policy));
  return absl::OkStatus();
}

}  // namespace redial
