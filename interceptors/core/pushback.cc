#include "redial/core/pushback.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/strings/ascii.h"
#include "redial/core/error_details.h"
#include "redial/core/http_date.h"

namespace redial {
namespace {

constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

Pushback Delay(absl::Duration delay, WaitSource source) {
  Pushback pushback;
  pushback.kind = Pushback::Kind::kDelay;
  pushback.delay = delay;
  pushback.source = source;
  return pushback;
}

Pushback Stop() {
  Pushback pushback;
  pushback.kind = Pushback::Kind::kStop;
  pushback.source = WaitSource::kPushback;
  return pushback;
}

Pushback Malformed() {
  Pushback pushback;
  pushback.malformed = true;
  return pushback;
}

absl::string_view Trim(absl::string_view text) {
  constexpr absl::string_view kOptionalWhitespace = " \t";
  const size_t begin = text.find_first_not_of(kOptionalWhitespace);
  if (begin == absl::string_view::npos) return {};
  const size_t end = text.find_last_not_of(kOptionalWhitespace);
  return text.substr(begin, end - begin + 1);
}

bool IsDigits(absl::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isdigit(c); });
}

// The value of decimal digits, none if it does not fit.
absl::optional<int64_t> DigitsValue(absl::string_view digits) {
  int64_t value = 0;
  for (const char c : digits) {
    const int digit = c - '0';
    if (value > (kInt64Max - digit) / 10) return absl::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

// One answer out of several headers: takes them in their order of precedence.
class FirstValid {
 public:
  // True if the search is over.
  bool Take(const Pushback& candidate) {
    malformed_ = malformed_ || candidate.malformed;
    result_ = candidate;
    result_.malformed = malformed_;
    return candidate.kind != Pushback::Kind::kNone;
  }
  const Pushback& result() const { return result_; }

 private:
  bool malformed_ = false;
  Pushback result_;
};

}  // namespace

Pushback ParseGrpcRetryPushbackMs(absl::string_view value) {
  const bool canonical =
      IsDigits(value) && (value.size() == 1 || value.front() != '0');
  if (!canonical) return Stop();
  const absl::optional<int64_t> milliseconds = DigitsValue(value);
  if (!milliseconds.has_value() ||
      *milliseconds > std::numeric_limits<int32_t>::max()) {
    return Stop();
  }
  return Delay(absl::Milliseconds(*milliseconds), WaitSource::kPushback);
}

Pushback ParseRetryAfter(absl::string_view value, absl::Time wall_now) {
  value = Trim(value);
  if (IsDigits(value)) {
    const absl::optional<int64_t> seconds = DigitsValue(value);
    return Delay(seconds.has_value() ? absl::Seconds(*seconds)
                                     : absl::InfiniteDuration(),
                 WaitSource::kRetryAfter);
  }
  const absl::optional<absl::Time> date = ParseHttpDate(value, wall_now);
  if (!date.has_value()) return Malformed();
  return Delay(std::max(*date - wall_now, absl::ZeroDuration()),
               WaitSource::kRetryAfter);
}

Pushback ParseRetryAfterMs(absl::string_view value) {
  value = Trim(value);
  const size_t point = value.find('.');
  const absl::string_view whole = value.substr(0, point);
  if (!IsDigits(whole)) return Malformed();
  absl::Duration delay = absl::InfiniteDuration();
  if (const absl::optional<int64_t> milliseconds = DigitsValue(whole)) {
    delay = absl::Milliseconds(*milliseconds);
  }
  if (point != absl::string_view::npos) {
    const absl::string_view fraction = value.substr(point + 1);
    if (!IsDigits(fraction)) return Malformed();
    // Nanoseconds are as fine as it gets; further digits are cut off.
    absl::Duration unit = absl::Microseconds(100);
    for (size_t i = 0; i < fraction.size() && i < 6; ++i) {
      delay += unit * (fraction[i] - '0');
      unit /= 10;
    }
  }
  return Delay(delay, WaitSource::kRetryAfter);
}

Pushback ParseRetryInfo(absl::string_view status_details) {
  const ErrorDetails details = ParseErrorDetails(status_details);
  Pushback pushback;
  if (details.retry_delay.has_value()) {
    pushback = Delay(*details.retry_delay, WaitSource::kRetryInfo);
  }
  pushback.malformed = details.malformed;
  return pushback;
}

Pushback ReadPushback(const MetadataView* metadata,
                      absl::string_view status_details, absl::Time wall_now,
                      bool http_headers) {
  const auto find = [metadata](absl::string_view name) {
    return metadata == nullptr ? absl::nullopt : metadata->Find(name);
  };
  FirstValid first;
  if (const auto value = find(kGrpcRetryPushbackMs)) {
    if (first.Take(ParseGrpcRetryPushbackMs(*value))) return first.result();
  }
  if (first.Take(ParseRetryInfo(status_details)) || !http_headers) {
    return first.result();
  }
  if (const auto value = find(kRetryAfter)) {
    if (first.Take(ParseRetryAfter(*value, wall_now))) return first.result();
  }
  for (const absl::string_view name : {kRetryAfterMs, kXMsRetryAfterMs}) {
    if (const auto value = find(name)) {
      if (first.Take(ParseRetryAfterMs(*value))) return first.result();
    }
  }
  if (const auto value = find(kRateLimit)) first.Take(ParseRateLimit(*value));
  return first.result();
}

}  // namespace redial
