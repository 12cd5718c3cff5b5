#include "redial/config/core_keys.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "redial/config/json_document.h"
#include "redial/config/json_reader.h"
#include "redial/config/json_scanner.h"

namespace redial {
namespace {

constexpr int64_t kMaxMessageBytes = std::numeric_limits<uint32_t>::max();

constexpr absl::string_view kOursInDocument[] = {"redial", "retryThrottling"};
constexpr absl::string_view kOursInMethod[] = {"hedgingPolicy", "redial",
                                               "retryPolicy", "timeout"};

constexpr absl::string_view kSizes[] = {"maxRequestMessageBytes",
                                        "maxResponseMessageBytes"};

void CheckMessageBytes(const absl::optional<JsonReader>& bytes) {
  if (bytes) bytes->Integer(0, kMaxMessageBytes, NumberForm::kNumberOrText);
}

void CheckLoadBalancingConfig(const JsonReader& reader) {
  const absl::optional<JsonArray> array = reader.Array();
  if (!array) return;
  if (array->empty()) {
    reader.Error(
        "is empty; must name a load balancing policy: [{\"round_robin\": {}}]");
  }
  for (size_t i = 0; i < array->size(); ++i) {
    const JsonReader element = (*array)[i];
    absl::optional<JsonObject> policy = element.Object();
    if (!policy) continue;
    const auto keys = policy->Keys();
    if (keys.size() != 1) {
      element.Error(
          "must have one key, the name of a load balancing policy: "
          "{\"round_robin\": {}}");
      continue;
    }
    const auto value = policy->Required(keys[0], "an object {...}");
    if (value) value->Object();
  }
}

template <size_t N>
bool IsOneOf(absl::string_view key, const absl::string_view (&keys)[N]) {
  for (absl::string_view candidate : keys) {
    if (key == candidate) return true;
  }
  return false;
}

// "methodConfig[3].x" -> "x"; "" for the entry itself and for other paths.
absl::string_view KeyInMethodConfig(absl::string_view path) {
  if (!absl::ConsumePrefix(&path, "methodConfig[")) return "";
  const size_t end = path.find("].");
  return end == path.npos ? "" : path.substr(end + 2);
}

// Core reads sizes digit by digit: 1e3 is no number to it.
void SpellAsDigits(std::string* raw) {
  double number = 0;
  absl::string_view text = *raw;
  absl::ConsumePrefix(&text, "\"");
  absl::ConsumeSuffix(&text, "\"");
  if (text.find_first_of(".eE") != text.npos && IsJsonNumber(text) &&
      absl::SimpleAtod(text, &number)) {
    *raw = absl::StrCat(static_cast<int64_t>(number));
  }
}

bool IsForCore(absl::string_view path, std::string* raw) {
  const bool is_null = *raw == "null";
  if (IsOneOf(path, kOursInDocument)) return false;
  const absl::string_view key = KeyInMethodConfig(path);
  if (IsOneOf(key, kOursInMethod)) return false;
  if (IsOneOf(key, kSizes)) SpellAsDigits(raw);
  // null is absent for us but a wrong type for older cores. Inside of what is
  // core's alone it may mean something.
  const bool at_top = !path.empty() && path.find_first_of(".[") == path.npos;
  const bool in_method = !key.empty() && key.find_first_of(".[") == key.npos;
  absl::string_view name = key;
  const bool in_name = absl::ConsumePrefix(&name, "name[");
  return !(is_null && (at_top || in_method || in_name));
}

}  // namespace

bool CheckMethodCoreKeys(JsonObject* method_config) {
  bool wait_for_ready = false;
  ReadInto(method_config->Optional("waitForReady"), &wait_for_ready,
           [](const JsonReader& reader) { return reader.Bool(); });
  CheckMessageBytes(method_config->Optional("maxRequestMessageBytes"));
  CheckMessageBytes(method_config->Optional("maxResponseMessageBytes"));
  return wait_for_ready;
}

void CheckDocumentCoreKeys(JsonObject* document) {
  const auto balancing = document->Optional("loadBalancingConfig");
  if (balancing) CheckLoadBalancingConfig(*balancing);
  const auto policy = document->Optional("loadBalancingPolicy");
  if (policy) policy->String();
  const auto health = document->Optional("healthCheckConfig");
  if (!health) return;
  absl::optional<JsonObject> object = health->Object();
  if (!object) return;
  const auto service = object->Optional("serviceName");
  if (service) service->String();
  object->ReportUnknown(UnknownKeys::kWarning);
}

std::string CoreConfig(absl::string_view json) {
  std::string rest = FilterJson(json, IsForCore);
  return rest == "{}" ? "" : rest;
}

}  // namespace redial
