#include "redial/config/decimal_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "redial/config/json_scanner.h"

namespace redial {
namespace {

// Far beyond the length of any text.
constexpr int64_t kMaxExponent = int64_t{1} << 40;

int64_t ReadExponent(absl::string_view text) {
  const bool negative = absl::ConsumePrefix(&text, "-");
  absl::ConsumePrefix(&text, "+");
  int64_t exponent = 0;
  for (char c : text) {
    exponent = std::min(exponent * 10 + (c - '0'), kMaxExponent);
  }
  return negative ? -exponent : exponent;
}

}  // namespace

absl::optional<int64_t> ScaledDecimal(absl::string_view text, int decimals) {
  if (!IsJsonNumber(text)) return absl::nullopt;
  const bool negative = absl::ConsumePrefix(&text, "-");

  std::string digits;
  int64_t point = -1;  // digits before the decimal point
  int64_t exponent = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::ascii_isdigit(text[i])) {
      digits.push_back(text[i]);
    } else if (text[i] == '.') {
      point = static_cast<int64_t>(digits.size());
    } else {
      exponent = ReadExponent(text.substr(i + 1));
      break;
    }
  }
  if (point < 0) point = static_cast<int64_t>(digits.size());
  point += exponent + decimals;

  int64_t value = 0;
  const auto size = static_cast<int64_t>(digits.size());
  for (int64_t i = 0; i < point && (i < size || value != 0); ++i) {
    value = value * 10 + (i < size ? digits[static_cast<size_t>(i)] - '0' : 0);
    if (value >= kMaxScaledDecimal) {
      value = kMaxScaledDecimal;
      break;
    }
  }
  return negative ? -value : value;
}

bool IsNegativeDecimal(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "-")) return false;
  const absl::string_view mantissa = text.substr(0, text.find_first_of("eE"));
  return mantissa.find_first_of("123456789") != mantissa.npos;
}

std::string ShortestDecimal(double number) {
  for (int precision = 15; precision < 17; ++precision) {
    std::string text = absl::StrFormat("%.*g", precision, number);
    double back = 0;
    if (absl::SimpleAtod(text, &back) && back == number) return text;
  }
  return absl::StrFormat("%.17g", number);
}

}  // namespace redial
