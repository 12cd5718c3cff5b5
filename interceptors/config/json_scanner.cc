#include "redial/config/json_scanner.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "redial/config/json_utf8.h"

namespace redial {
namespace {

// The length of the number at the start of `text`, 0 if there is none.
size_t NumberLength(absl::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && absl::ascii_isdigit(text[at])) ++at;
    return at - begin;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (digits() == 0) {
    return 0;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return 0;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return 0;
  }
  return at;
}

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '+' || c == '-';
}

class Scanner {
 public:
  Scanner(absl::string_view text, JsonVisitor* visitor)
      : text_(text), visitor_(visitor) {}

  absl::Status Run();

 private:
  struct Frame {
    bool is_object;
    absl::flat_hash_set<std::string> keys;
  };

  bool done() const { return at_ == text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  void SkipSpace() {
    while (!done() && (peek() == ' ' || peek() == '\t' || peek() == '\n' ||
                       peek() == '\r')) {
      ++at_;
    }
  }
  absl::Status ErrorAt(size_t offset, absl::string_view message) const;
  absl::Status Error(absl::string_view message) const {
    return ErrorAt(at_, message);
  }
  absl::Status Expected(absl::string_view what) const;

  absl::Status Value(bool* opened);
  absl::Status Open(bool is_object);
  void Close();
  absl::Status Word();
  absl::Status Key();
  absl::Status String(std::string* decoded);
  absl::Status Escape(std::string* decoded);
  bool Hex4(uint32_t* code);

  const absl::string_view text_;
  JsonVisitor* const visitor_;
  size_t at_ = 0;
  std::vector<Frame> frames_;
};

absl::Status Scanner::ErrorAt(size_t offset, absl::string_view message) const {
  size_t line = 1, line_start = 0;
  for (size_t i = 0; i < offset && i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      ++line;
      line_start = i + 1;
    }
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "line %d, column %d: %s", line, offset - line_start + 1, message));
}

absl::Status Scanner::Expected(absl::string_view what) const {
  if (done()) {
    return Error(absl::StrCat("the text ends where ", what, " is needed"));
  }
  const char c = peek();
  if (c == '/' || c == '#') {
    return Error("JSON has no comments: take this one out");
  }
  if (c == '\'') return Error("JSON strings stand in double quotes: \"...\"");
  if (absl::ascii_isprint(c)) {
    return Error(absl::StrFormat("found '%c' where %s is needed", c, what));
  }
  return Error(absl::StrFormat("found byte 0x%02x where %s is needed",
                               static_cast<unsigned char>(c), what));
}

absl::Status Scanner::Run() {
  if (absl::StartsWith(text_, "\xef\xbb\xbf")) {
    return Error("a byte order mark: save the text as UTF-8 without one");
  }
  if (absl::StartsWith(text_, "\xff\xfe") ||
      absl::StartsWith(text_, "\xfe\xff")) {
    return Error("the text looks like UTF-16: save it as UTF-8");
  }
  bool opened = false;
  SkipSpace();
  absl::Status status = Value(&opened);
  if (!status.ok()) return status;
  while (!frames_.empty()) {
    SkipSpace();
    const bool is_object = frames_.back().is_object;
    const char closing = is_object ? '}' : ']';
    const bool first = opened;
    if (!done() && peek() == closing) {
      ++at_;
      Close();
      opened = false;
      continue;
    }
    if (!first) {
      if (done() || peek() != ',') {
        return Expected(is_object ? "',' or '}'" : "',' or ']'");
      }
      const size_t comma = at_++;
      SkipSpace();
      if (!done() && peek() == closing) {
        return ErrorAt(comma, absl::StrFormat(
                                  "JSON allows no comma before '%c'", closing));
      }
    }
    if (is_object) {
      status = Key();
      if (!status.ok()) return status;
    }
    status = Value(&opened);
    if (!status.ok()) return status;
  }
  SkipSpace();
  if (!done()) return Expected("the end of the text");
  return absl::OkStatus();
}

absl::Status Scanner::Value(bool* opened) {
  *opened = false;
  if (!done()) {
    switch (peek()) {
      case '{':
      case '[':
        *opened = true;
        return Open(peek() == '{');
      case '"': {
        const size_t begin = at_;
        absl::Status status = String(nullptr);
        if (status.ok() && visitor_ != nullptr) {
          visitor_->Scalar(text_.substr(begin, at_ - begin));
        }
        return status;
      }
      default:
        if (IsWordCharacter(peek())) return Word();
    }
  }
  return Expected("a value");
}

absl::Status Scanner::Open(bool is_object) {
  if (static_cast<int>(frames_.size()) == kMaxJsonDepth) {
    return Error(absl::StrCat("more than ", kMaxJsonDepth,
                              " objects and arrays inside each other"));
  }
  ++at_;
  frames_.push_back({is_object, {}});
  if (visitor_ == nullptr) return absl::OkStatus();
  if (is_object) {
    visitor_->BeginObject();
  } else {
    visitor_->BeginArray();
  }
  return absl::OkStatus();
}

void Scanner::Close() {
  const bool is_object = frames_.back().is_object;
  frames_.pop_back();
  if (visitor_ == nullptr) return;
  if (is_object) {
    visitor_->EndObject();
  } else {
    visitor_->EndArray();
  }
}

absl::Status Scanner::Word() {
  const size_t begin = at_;
  while (!done() && IsWordCharacter(peek())) ++at_;
  const absl::string_view word = text_.substr(begin, at_ - begin);
  if (word != "true" && word != "false" && word != "null") {
    if (NumberLength(word) != word.size()) {
      return ErrorAt(begin,
                     absl::StrFormat("%s is no JSON value: a string stands in "
                                     "double quotes, a number is spelled like "
                                     "-12, 0.5 or 1e3",
                                     word.substr(0, 40)));
    }
    double number;
    if (!absl::SimpleAtod(word, &number) || !std::isfinite(number)) {
      return ErrorAt(begin, absl::StrCat(word.substr(0, 40),
                                         " is beyond the range of a double"));
    }
  }
  if (visitor_ != nullptr) visitor_->Scalar(word);
  return absl::OkStatus();
}

absl::Status Scanner::Key() {
  const size_t begin = at_;
  if (done() || peek() != '"') return Expected("a key in double quotes");
  std::string name;
  absl::Status status = String(&name);
  if (!status.ok()) return status;
  const absl::string_view raw = text_.substr(begin, at_ - begin);
  if (visitor_ != nullptr) visitor_->Key(name, raw);
  if (!frames_.back().keys.insert(std::move(name)).second) {
    return ErrorAt(begin, absl::StrCat("the key ", raw.substr(0, 60),
                                       " stands twice in one object"));
  }
  SkipSpace();
  if (done() || peek() != ':') return Expected("':'");
  ++at_;
  SkipSpace();
  return absl::OkStatus();
}

absl::Status Scanner::String(std::string* decoded) {
  const size_t begin = at_++;
  while (!done()) {
    const auto c = static_cast<unsigned char>(peek());
    if (c == '"') {
      ++at_;
      return absl::OkStatus();
    }
    if (c == '\\') {
      absl::Status status = Escape(decoded);
      if (!status.ok()) return status;
      continue;
    }
    if (c < 0x20) {
      return Error(absl::StrFormat(
          "byte 0x%02x in a string: write it as \\u%04x", c, c));
    }
    const size_t length = Utf8Length(text_.substr(at_));
    if (length == 0) {
      return Error(absl::StrFormat("byte 0x%02x: the text is not UTF-8", c));
    }
    if (decoded != nullptr) {
      absl::StrAppend(decoded, text_.substr(at_, length));
    }
    at_ += length;
  }
  return ErrorAt(begin, "this string has no end");
}

bool Scanner::Hex4(uint32_t* code) {
  if (text_.size() - at_ < 4) return false;
  const absl::string_view hex = text_.substr(at_, 4);
  for (char c : hex) {
    if (!absl::ascii_isxdigit(c)) return false;
  }
  at_ += 4;
  return absl::SimpleHexAtoi(hex, code);
}

absl::Status Scanner::Escape(std::string* decoded) {
  static constexpr absl::string_view kNames = "\"\\/bfnrt";
  static constexpr absl::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t begin = at_++;
  const char kind = peek();
  const size_t index = done() ? kNames.npos : kNames.find(kind);
  if (index != kNames.npos) {
    ++at_;
    if (decoded != nullptr) decoded->push_back(kMeanings[index]);
    return absl::OkStatus();
  }
  uint32_t code = 0;
  if (!done() && kind == 'u') {
    ++at_;
    if (Hex4(&code)) {
      if (code >= 0xd800 && code < 0xdc00) {
        uint32_t low = 0;
        if (absl::StartsWith(text_.substr(at_), "\\u")) {
          at_ += 2;
          if (!Hex4(&low)) low = 0;
        }
        code = low >= 0xdc00 && low < 0xe000
                   ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                   : 0xdc00;
      }
      if (code >= 0xdc00 && code < 0xe000) {
        return ErrorAt(begin, "half of a surrogate pair is no character");
      }
      if (decoded != nullptr) AppendUtf8(code, decoded);
      return absl::OkStatus();
    }
  }
  return ErrorAt(begin,
                 "a backslash stands before one of \" \\ / b f n r t, or "
                 "before u and four hexadecimal digits");
}

}  // namespace

absl::Status ScanJson(absl::string_view text, JsonVisitor* visitor) {
  return Scanner(text, visitor).Run();
}

bool IsJsonNumber(absl::string_view text) {
  return !text.empty() && NumberLength(text) == text.size();
}

}  // namespace redial
