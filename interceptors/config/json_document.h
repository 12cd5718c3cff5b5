// JsonDocument: a JSON text as a tree of google.protobuf.Value.
//
// The text is checked strictly (json_scanner.h) and then parsed by protobuf.
// Immutable; safe to read from many threads.
//
//   absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text);
//   if (!document.ok()) return document.status();   // "line 3, column 7: ..."
//   ProblemList problems;
//   JsonReader root(document->root(), "", &problems);  // json_reader.h
#ifndef REDIAL_CONFIG_JSON_DOCUMENT_H_
#define REDIAL_CONFIG_JSON_DOCUMENT_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"

namespace redial {

// Longer texts are refused unread: no config written by people comes near.
inline constexpr size_t kMaxJsonSize = size_t{4} << 20;

class JsonDocument {
 public:
  // INVALID_ARGUMENT, with line and column, if `text` is not JSON as RFC 8259
  // has it; RESOURCE_EXHAUSTED if it is longer than kMaxJsonSize. The root may
  // be any value.
  static absl::StatusOr<JsonDocument> Parse(absl::string_view text);

  const google::protobuf::Value& root() const { return *root_; }

 private:
  explicit JsonDocument(std::shared_ptr<const google::protobuf::Value> root)
      : root_(std::move(root)) {}

  std::shared_ptr<const google::protobuf::Value> root_;
};

// Copies a JSON text, without white space and without the values (and their
// keys) for which `keep` is false; it is asked with the path and with "{", "["
// or a scalar as written, which it may replace. Order and the spelling of
// numbers stay. `text` must be valid.
using JsonFilter =
    absl::FunctionRef<bool(absl::string_view path, std::string* raw)>;
std::string FilterJson(absl::string_view text, JsonFilter keep);

// The value at `path`, as text; empty if there is none. This is how a document
// inside another (a scenario's serviceConfig) reaches its own reader.
std::string JsonTextAt(absl::string_view text, absl::string_view path);

}  // namespace redial

#endif  // REDIAL_CONFIG_JSON_DOCUMENT_H_
