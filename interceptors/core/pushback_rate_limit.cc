// ParseRateLimit of pushback.h: the RateLimit field is a list of structured
// field values (RFC 8941 §3.1), `"name";r=0;t=30`, and is read as one: where a
// part breaks the grammar, the whole field is as if it were absent.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/pushback.h"

namespace redial {
namespace {

struct QuotaItem {
  absl::optional<int64_t> remaining;  // r
  absl::optional<int64_t> reset;      // t, seconds
};

bool IsTokenChar(unsigned char c) {
  return absl::ascii_isalnum(c) ||
         absl::string_view("!#$%&'*+-.^_`|~:/").find(c) !=
             absl::string_view::npos;
}

bool IsKeyChar(unsigned char c) {
  return absl::ascii_islower(c) || absl::ascii_isdigit(c) ||
         absl::string_view("_-.*").find(c) != absl::string_view::npos;
}

bool IsBase64Char(unsigned char c) {
  return absl::ascii_isalnum(c) || c == '+' || c == '/' || c == '=';
}

class RateLimitReader {
 public:
  explicit RateLimitReader(absl::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }

  void Skip(absl::string_view characters) {
    rest_.remove_prefix(
        std::min(rest_.find_first_not_of(characters), rest_.size()));
  }

  bool Literal(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Item(QuotaItem* item) {
    absl::optional<int64_t> ignored;
    if (!BareItem(&ignored)) return false;
    while (Literal(';')) {
      Skip(" ");
      const absl::string_view key = While(IsKeyChar);
      if (key.empty() || !(absl::ascii_islower(key.front()) || key[0] == '*')) {
        return false;
      }
      absl::optional<int64_t> value;
      if (Literal('=') && !BareItem(&value)) return false;
      if (key != "r" && key != "t") continue;
      // Both are non-negative integers.
      if (!value.has_value() || *value < 0) return false;
      (key == "r" ? item->remaining : item->reset) = value;
    }
    return true;
  }

 private:
  absl::string_view While(bool (*matches)(unsigned char)) {
    size_t length = 0;
    while (length < rest_.size() && matches(rest_[length])) ++length;
    const absl::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }

  // `integer` is set where the item is one.
  bool BareItem(absl::optional<int64_t>* integer) {
    if (rest_.empty()) return false;
    const unsigned char first = rest_.front();
    if (first == '-' || absl::ascii_isdigit(first)) return Number(integer);
    if (first == '"') return String();
    if (first == '*' || absl::ascii_isalpha(first)) {
      While(IsTokenChar);
      return true;
    }
    if (Literal(':')) {
      While(IsBase64Char);
      return Literal(':');
    }
    return Literal('?') && (Literal('0') || Literal('1'));
  }

  bool Number(absl::optional<int64_t>* integer) {
    const bool negative = Literal('-');
    const absl::string_view digits =
        While([](unsigned char c) -> bool { return absl::ascii_isdigit(c); });
    if (digits.empty() || digits.size() > 15) return false;
    if (Literal('.')) {
      const absl::string_view fraction =
          While([](unsigned char c) -> bool { return absl::ascii_isdigit(c); });
      return digits.size() <= 12 && !fraction.empty() && fraction.size() <= 3;
    }
    int64_t value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    *integer = negative ? -value : value;
    return true;
  }

  bool String() {
    Literal('"');
    while (!rest_.empty()) {
      if (Literal('"')) return true;
      if (Literal('\\')) {
        if (!Literal('"') && !Literal('\\')) return false;
        continue;
      }
      if (!absl::ascii_isprint(static_cast<unsigned char>(rest_.front()))) {
        return false;
      }
      rest_.remove_prefix(1);
    }
    return false;
  }

  absl::string_view rest_;
};

}  // namespace

Pushback ParseRateLimit(absl::string_view value) {
  Pushback malformed;
  malformed.malformed = true;
  RateLimitReader reader(value);
  Pushback result;
  reader.Skip(" ");
  // An empty list is a valid one.
  if (reader.AtEnd()) return result;
  for (;;) {
    QuotaItem item;
    if (!reader.Item(&item)) return malformed;
    const bool used_up = item.remaining.value_or(0) == 0;
    if (result.kind == Pushback::Kind::kNone && used_up &&
        item.reset.has_value()) {
      result.kind = Pushback::Kind::kDelay;
      result.delay = absl::Seconds(*item.reset);
      result.source = WaitSource::kRetryAfter;
    }
    reader.Skip(" \t");
    if (reader.AtEnd()) return result;
    if (!reader.Literal(',')) return malformed;
    reader.Skip(" \t");
  }
}

}  // namespace redial
