#include "tools/redial/scenario/json_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redial/config/json_utf8.h"

namespace redial {

void JsonWriter::NewLine() {
  text_.push_back('\n');
  text_.append(static_cast<size_t>(depth_) * 2, ' ');
}

void JsonWriter::Before() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) text_.push_back(',');
  first_ = false;
  NewLine();
}

void JsonWriter::Begin(char bracket) {
  Before();
  text_.push_back(bracket);
  ++depth_;
  first_ = true;
}

void JsonWriter::End(char bracket) {
  --depth_;
  if (!first_) NewLine();
  first_ = false;
  text_.push_back(bracket);
}

JsonWriter& JsonWriter::Key(absl::string_view key) {
  Before();
  Quote(key);
  text_.append(": ");
  after_key_ = true;
  return *this;
}

void JsonWriter::String(absl::string_view value) {
  Before();
  Quote(value);
}

void JsonWriter::Number(int64_t value) {
  Before();
  absl::StrAppend(&text_, value);
}

void JsonWriter::Bool(bool value) {
  Before();
  text_.append(value ? "true" : "false");
}

void JsonWriter::Quote(absl::string_view value) {
  text_.push_back('"');
  while (!value.empty()) {
    const char c = value.front();
    if (c == '"' || c == '\\') {
      text_.push_back('\\');
      text_.push_back(c);
      value.remove_prefix(1);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&text_, "\\u%04x", static_cast<unsigned>(c));
      value.remove_prefix(1);
    } else {
      const size_t length = Utf8Length(value);
      if (length == 0) {
        text_.append("\xef\xbf\xbd");
      } else {
        text_.append(value.data(), length);
      }
      value.remove_prefix(std::max<size_t>(length, 1));
    }
  }
  text_.push_back('"');
}

}  // namespace redial
