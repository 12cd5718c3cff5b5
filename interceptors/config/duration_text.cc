#include "redial/config/duration_text.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace redial {
namespace {

constexpr size_t kNanosecondDigits = 9;

bool AllDigits(absl::string_view text) {
  for (char c : text) {
    if (!absl::ascii_isdigit(c)) return false;
  }
  return !text.empty();
}

}  // namespace

absl::optional<absl::Duration> ParseDurationText(absl::string_view text) {
  if (!absl::ConsumeSuffix(&text, "s")) return absl::nullopt;
  const size_t point = text.find('.');
  const absl::string_view whole = text.substr(0, point);
  if (!AllDigits(whole)) return absl::nullopt;
  int64_t seconds = 0;
  for (char c : whole) {
    seconds = seconds * 10 + (c - '0');
    if (seconds > kMaxDurationSeconds) return absl::nullopt;
  }
  int64_t nanoseconds = 0;
  if (point != text.npos) {
    const absl::string_view fraction = text.substr(point + 1);
    if (!AllDigits(fraction) || fraction.size() > kNanosecondDigits) {
      return absl::nullopt;
    }
    for (size_t i = 0; i < kNanosecondDigits; ++i) {
      nanoseconds =
          nanoseconds * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
    }
  }
  return absl::Seconds(seconds) + absl::Nanoseconds(nanoseconds);
}

std::string DurationText(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "infinite";
  if (duration == -absl::InfiniteDuration()) return "-infinite";
  const absl::string_view sign = duration < absl::ZeroDuration() ? "-" : "";
  absl::Duration rest = absl::AbsDuration(duration);
  const int64_t seconds = absl::IDivDuration(rest, absl::Seconds(1), &rest);
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(rest);
  if (nanoseconds == 0) return absl::StrCat(sign, seconds, "s");
  std::string fraction = absl::StrFormat("%09d", nanoseconds);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return absl::StrCat(sign, seconds, ".", fraction, "s");
}

}  // namespace redial
