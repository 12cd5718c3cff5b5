// One element of methodConfig: its names, and the policy that they get.
//
// Problems go to the reader's list. A MethodConfigs collects the entries of a
// document and refuses a name that comes twice; not thread-safe.
//
//   MethodConfigs configs(dialect, top_settings);
//   for (...) configs.Read(array[i]);
//   configs.entries();
#ifndef REDIAL_CONFIG_METHOD_CONFIG_READER_H_
#define REDIAL_CONFIG_METHOD_CONFIG_READER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "redial/config/json_reader.h"
#include "redial/config/redial_settings.h"
#include "redial/config/service_config_options.h"
#include "redial/core/policy.h"

namespace redial {

// One name of one method config.
struct ConfigEntry {
  // Where it stands: "methodConfig[2]", "methodConfig[2].name[0]".
  std::string config_path, name_path;
  // Both empty: the default. `method` empty: all methods of the service.
  std::string service, method;
  // Shared by all names of the method config. Null: nothing of ours is here,
  // which shadows a more general entry all the same.
  std::shared_ptr<const MethodPolicy> policy;
  // "methodConfig[2].retryPolicy" or "methodConfig[2].redial.retry"; empty
  // where nothing is retried.
  std::string retry_path;
  // waitForReady, which is gRPC core's.
  bool wait_for_ready = false;
};

class MethodConfigs {
 public:
  MethodConfigs(ServiceConfigDialect dialect, RedialSettings defaults)
      : dialect_(dialect), defaults_(std::move(defaults)) {}

  void Read(const JsonReader& reader);

  const std::vector<ConfigEntry>& entries() const { return entries_; }

 private:
  void ReadNames(const JsonReader& names, const ConfigEntry& entry);
  void ReadName(const JsonReader& reader, ConfigEntry entry);
  // Fills policy and retry_path.
  void ReadPolicy(JsonObject* object, ConfigEntry* entry);

  const ServiceConfigDialect dialect_;
  const RedialSettings defaults_;
  std::vector<ConfigEntry> entries_;
  // "/service/method" -> where it came first.
  absl::flat_hash_map<std::string, std::string> first_;
};

}  // namespace redial

#endif  // REDIAL_CONFIG_METHOD_CONFIG_READER_H_
