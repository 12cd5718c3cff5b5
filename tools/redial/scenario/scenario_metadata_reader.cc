#include "tools/redial/scenario/scenario_metadata_reader.h"

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/testing/metadata_rules.h"

namespace redial {
namespace {

using AddFunction = std::function<void(const std::string& name,
                                       std::string value, const JsonReader&)>;

void ReadPairs(const JsonReader& reader, const AddFunction& add) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object.has_value()) return;
  for (const std::string& name : object->Keys()) {
    const absl::optional<JsonReader> value = object->Optional(name);
    if (!value.has_value()) continue;
    if (value->is_string()) {
      add(name, *value->String(), *value);
      continue;
    }
    const absl::optional<JsonArray> list = value->Array();
    if (!list.has_value()) continue;
    for (size_t i = 0; i < list->size(); ++i) {
      const JsonReader element = (*list)[i];
      absl::optional<std::string> text = element.String();
      if (text.has_value()) add(name, *std::move(text), element);
    }
  }
}

// Of the 8 KiB that gRPC takes by default, what it does not need itself.
constexpr size_t kMaxHeaderBytes = 7 * 1024;

// RFC 9113 §6.5.2.
constexpr size_t kHeaderOverhead = 32;

}  // namespace

ScenarioMetadata ReadScenarioMetadata(const JsonReader& reader) {
  ScenarioMetadata metadata;
  ReadPairs(reader, [&](const std::string& name, std::string value,
                        const JsonReader& at) {
    if (IsBinaryMetadata(name)) {
      std::string bytes;
      if (!absl::Base64Unescape(value, &bytes)) {
        return at.Error("is not base64, as values of -bin names must be");
      }
      value = std::move(bytes);
    }
    const absl::Status legal = CheckMetadata(name, value);
    if (!legal.ok()) return at.Error(std::string(legal.message()));
    metadata.emplace(name, std::move(value));
  });
  return metadata;
}

ScenarioMetadata ReadScenarioHeaders(const JsonReader& reader) {
  ScenarioMetadata headers;
  ReadPairs(reader, [&](const std::string& name, std::string value,
                        const JsonReader& at) {
    for (char c : name) {
      if (!absl::ascii_isalnum(c) &&
          absl::string_view("!#$%&'*+-.^_`|~").find(c) ==
              absl::string_view::npos) {
        return at.Error("the name is not one of a header (RFC 9110 §5.1)");
      }
    }
    for (char c : value) {
      if ((absl::ascii_iscntrl(c) && c != '\t')) {
        return at.Error("a header value may not hold control characters");
      }
    }
    headers.emplace(absl::AsciiStrToLower(name), std::move(value));
  });
  return headers;
}

size_t HeaderBytes(absl::string_view name, absl::string_view value) {
  const size_t size =
      IsBinaryMetadata(name) ? (value.size() + 2) / 3 * 4 : value.size();
  return name.size() + size + kHeaderOverhead;
}

size_t HeaderBytes(const ScenarioMetadata& metadata) {
  size_t bytes = 0;
  for (const auto& [name, value] : metadata) bytes += HeaderBytes(name, value);
  return bytes;
}

size_t StatusMessageBytes(absl::string_view message) {
  size_t bytes = kHeaderOverhead;
  for (char c : message) bytes += absl::ascii_isprint(c) && c != '%' ? 1 : 3;
  return bytes;
}

void CheckHeaderBytes(const JsonReader& at, absl::string_view what,
                      size_t bytes) {
  if (bytes <= kMaxHeaderBytes) return;
  at.Error(absl::StrCat(what, " take ", bytes, " bytes; must take at most ",
                        kMaxHeaderBytes, ", which is what gRPC receives"));
}

}  // namespace redial
