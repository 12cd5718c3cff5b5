// JsonScanner: is a text JSON exactly as RFC 8259 has it, and what stands in
// it, in order.
//
// Parsers of JSON tend to be kind: protobuf's accepts keys without quotes,
// single quotes, trailing commas and raw control characters, and a reader that
// is kinder than gRPC core would take a config that core then refuses. So a
// text goes through this scanner first. It also gives what a parsed Struct has
// lost: the order of members and the spelling of numbers.
//
// Total over any bytes, linear in their number, and not recursive. Thread-safe:
// it has no state.
//
//   absl::Status status = ScanJson(text);            // "line 3, column 7: ..."
//   absl::Status status = ScanJson(text, &visitor);  // and tells what it sees
#ifndef REDIAL_CONFIG_JSON_SCANNER_H_
#define REDIAL_CONFIG_JSON_SCANNER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace redial {

// Objects and arrays inside each other. protobuf's limit for a Struct is 33.
inline constexpr int kMaxJsonDepth = 32;

// Told what is in a text, in its order. Nothing by default.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;

  virtual void BeginObject() {}
  // `name` is decoded, `raw` is as written, with its quotes.
  virtual void Key(absl::string_view name, absl::string_view raw) {}
  virtual void EndObject() {}
  virtual void BeginArray() {}
  virtual void EndArray() {}
  // A string, number, true, false or null as written.
  virtual void Scalar(absl::string_view raw) {}
};

// INVALID_ARGUMENT, with line and column (both from 1, columns in bytes), where
// `text` is not one JSON value: wrong syntax, bytes that are not UTF-8, a byte
// order mark, a key twice in one object, a number beyond the range of double,
// or more than kMaxJsonDepth levels. `visitor` may be null; what it was told
// before an error stays told.
absl::Status ScanJson(absl::string_view text, JsonVisitor* visitor = nullptr);

// Whether all of `text` is a number as JSON spells it: "-1.5e3", not "+1",
// "01",
// ".5", "1." or "0x1".
bool IsJsonNumber(absl::string_view text);

}  // namespace redial

#endif  // REDIAL_CONFIG_JSON_SCANNER_H_
