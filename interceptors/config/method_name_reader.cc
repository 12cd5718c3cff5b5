// The names of a method config: the part of method_config_reader.h that knows
// gRPC's rules for them.

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/config/method_config_reader.h"

namespace redial {
namespace {

// What an entry is for, in words.
std::string Described(const ConfigEntry& entry) {
  if (entry.service.empty()) return "the default";
  if (entry.method.empty()) return absl::StrCat("service ", entry.service);
  return absl::StrCat("method ", entry.service, "/", entry.method);
}

}  // namespace

void MethodConfigs::ReadNames(const JsonReader& names,
                              const ConfigEntry& entry) {
  const absl::optional<JsonArray> array = names.Array();
  if (!array) return;
  if (array->empty()) {
    names.Warning(
        "is empty, so the entry applies to nothing; [{}] makes it the default");
  }
  for (size_t i = 0; i < array->size(); ++i) ReadName((*array)[i], entry);
}

void MethodConfigs::ReadName(const JsonReader& reader, ConfigEntry entry) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return;
  const auto text = [](const JsonReader& value) { return value.String(); };
  const absl::optional<JsonReader> service = object->Optional("service");
  const absl::optional<JsonReader> method = object->Optional("method");
  ReadInto(service, &entry.service, text);
  ReadInto(method, &entry.method, text);
  object->ReportUnknown(UnknownKeys::kWarning);
  if ((service && !service->is_string()) || (method && !method->is_string())) {
    return;
  }
  if (entry.service.empty() && !entry.method.empty()) {
    if (!service) {
      reader.Error(absl::StrCat(
          "names a method without its service; must be {\"service\": "
          "\"package.Service\", \"method\": \"Method\"}"));
      return;
    }
    method->Warning(
        "is ignored, because the service is empty, which makes this the "
        "default");
    entry.method.clear();
  }
  for (const auto& part : {service, method}) {
    if (part && absl::StrContains(*part->String(), '/')) {
      part->Warning(
          "holds a '/' and will match nothing; write \"package.Service\" and "
          "\"Method\" apart, without slashes");
    } else if (part &&
               part->String()->find_first_of(" \t\r\n") != std::string::npos) {
      part->Warning("holds white space and will match nothing; take it out");
    }
  }
  entry.name_path = reader.path();
  const auto inserted = first_.try_emplace(
      absl::StrCat("/", entry.service, "/", entry.method), reader.path());
  if (!inserted.second) {
    reader.Error(absl::StrCat("names ", Described(entry), ", as ",
                              inserted.first->second,
                              " does; one of the two must go"));
    return;
  }
  entries_.push_back(std::move(entry));
}

}  // namespace redial
