// Durations as JSON has them (google.protobuf.Duration): "0.25s".
//
// Pure functions, independent of locale; exact to the nanosecond.
#ifndef REDIAL_CONFIG_DURATION_TEXT_H_
#define REDIAL_CONFIG_DURATION_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace redial {

// About 10,000 years, the limit of google.protobuf.Duration.
inline constexpr int64_t kMaxDurationSeconds = int64_t{315576000000};

// Digits, at will a point and 1 to 9 digits, "s"; whole seconds from 0 to
// kMaxDurationSeconds. None for anything else: no sign, space, exponent or
// other unit.
absl::optional<absl::Duration> ParseDurationText(absl::string_view text);

// The inverse: "0s", "1.5s", cut to nanoseconds. "infinite" for what is.
std::string DurationText(absl::Duration duration);

}  // namespace redial

#endif  // REDIAL_CONFIG_DURATION_TEXT_H_
