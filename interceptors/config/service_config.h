// ServiceConfig: from a service config to a PolicyTable.
//
// One document, the gRPC service config with our key "redial"
// (proto/redial/v1/service_config.proto), serves gRPC core and redial: we take
// what is ours, and PolicyTable::core_config() is the same document without it.
// All errors come at once, in the order of the document, each with its JSON
// path and with what would be right. An invalid document gives no policy at
// all.
//
// Thread-safe: there is no state. Input may be hostile: texts above 4 MiB and
// deeper than 32 levels are refused.
//
//   auto policy = redial::ServiceConfig::FromJsonFile("service_config.json");
//   if (!policy.ok()) return policy.status();
//   auto channel = redial::CreateChannel(target, credentials, *policy);
#ifndef REDIAL_CONFIG_SERVICE_CONFIG_H_
#define REDIAL_CONFIG_SERVICE_CONFIG_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "redial/config/config_problem.h"
#include "redial/config/method_config_reader.h"
#include "redial/config/service_config_options.h"
#include "redial/core/policy_table.h"

namespace redial {

struct ServiceConfigResult {
  // Null if there are errors.
  std::shared_ptr<const PolicyTable> policy;
  std::vector<ConfigProblem> errors;
  // Legal, but not what its author wants.
  std::vector<ConfigProblem> warnings;
  // What the names in the document stand for, in its order; for tools.
  std::vector<ConfigEntry> entries;
  std::string source_name;

  // OK, or INVALID_ARGUMENT with all errors.
  absl::Status ToStatus() const;
};

class ServiceConfig {
 public:
  ServiceConfig() = delete;

  // Errors are those of ServiceConfigResult::ToStatus; warnings are not told.
  static absl::StatusOr<std::shared_ptr<const PolicyTable>> FromJson(
      absl::string_view json, const ServiceConfigOptions& options = {});

  // Also NOT_FOUND, PERMISSION_DENIED, ... where the file cannot be read.
  // `path` stands in messages unless options.source_name is set.
  static absl::StatusOr<std::shared_ptr<const PolicyTable>> FromJsonFile(
      const std::string& path, const ServiceConfigOptions& options = {});

  // Everything that can be said about a document.
  static ServiceConfigResult Read(absl::string_view json,
                                  const ServiceConfigOptions& options = {});

  // Reads the file and gives it to `live`, which must not be null. On an error
  // `live` keeps what it has.
  static absl::Status ReloadJsonFile(const std::string& path, LivePolicy* live,
                                     const ServiceConfigOptions& options = {});
};

}  // namespace redial

#endif  // REDIAL_CONFIG_SERVICE_CONFIG_H_
