// JsonWriter: JSON text, two spaces per level.
//
// Bytes that are no UTF-8 become U+FFFD, so the text is always valid. Not
// thread-safe.
//
//   JsonWriter json;
//   json.BeginObject();
//   json.Key("attempts").Number(3);
//   json.EndObject();
//   std::cout << json.text();
#ifndef TOOLS_REDIAL_SCENARIO_JSON_WRITER_H_
#define TOOLS_REDIAL_SCENARIO_JSON_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace redial {

class JsonWriter {
 public:
  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }

  JsonWriter& Key(absl::string_view key);
  void String(absl::string_view value);
  void Number(int64_t value);
  void Bool(bool value);

  const std::string& text() const { return text_; }

 private:
  void Begin(char bracket);
  void End(char bracket);
  // What stands before a value: a comma, a new line, nothing after a key.
  void Before();
  void NewLine();
  void Quote(absl::string_view value);

  std::string text_;
  int depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_JSON_WRITER_H_
