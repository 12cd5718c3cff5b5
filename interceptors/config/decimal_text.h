// Decimal text: numbers read as they are written.
//
// A ratio such as 0.5466 has no exact double, and A6 cuts it to three decimals:
// cutting the double would turn 0.007 into 6 thousandths. So ratios are read
// digit by digit. Pure functions, independent of locale.
//
//   ScaledDecimal("0.5466", 3)  // 546
//   ScaledDecimal("1e9", 3)     // 1000000000000
#ifndef REDIAL_CONFIG_DECIMAL_TEXT_H_
#define REDIAL_CONFIG_DECIMAL_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace redial {

// Where ScaledDecimal stops counting.
inline constexpr int64_t kMaxScaledDecimal = int64_t{1000000000000000};

// `text`, a number as JSON spells it, times 10^decimals, cut (not rounded)
// towards zero. Values beyond +-kMaxScaledDecimal give that. None if the text
// is no JSON number.
absl::optional<int64_t> ScaledDecimal(absl::string_view text, int decimals);

// Whether the number that `text` spells is below zero, "-0" is not.
bool IsNegativeDecimal(absl::string_view text);

// The shortest text that reads back as `number`, which is finite: "0.1", "5",
// "1e+21".
std::string ShortestDecimal(double number);

}  // namespace redial

#endif  // REDIAL_CONFIG_DECIMAL_TEXT_H_
