#include "redial/core/http_date.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/civil_time.h"

namespace redial {
namespace {

constexpr std::array<absl::string_view, 7> kShortDays = {
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<absl::string_view, 7> kLongDays = {
    "Monday", "Tuesday",  "Wednesday", "Thursday",
    "Friday", "Saturday", "Sunday"};
constexpr std::array<absl::string_view, 12> kMonths = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct Fields {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

// Reads the grammar from left to right. Names are case-sensitive (§5.6.7).
class Cursor {
 public:
  explicit Cursor(absl::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }

  bool Literal(absl::string_view literal) {
    if (!absl::StartsWith(rest_, literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  bool Digits(size_t count, int* value) {
    if (rest_.size() < count) return false;
    *value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!absl::ascii_isdigit(rest_[i])) return false;
      *value = *value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return true;
  }

  // `index` counts from 0.
  template <size_t kCount>
  bool OneOf(const std::array<absl::string_view, kCount>& names, int* index) {
    for (size_t i = 0; i < kCount; ++i) {
      if (Literal(names[i])) {
        *index = static_cast<int>(i);
        return true;
      }
    }
    return false;
  }

  bool Month(int* month) {
    if (!OneOf(kMonths, month)) return false;
    ++*month;
    return true;
  }

  bool TimeOfDay(Fields* fields) {
    return Digits(2, &fields->hour) && Literal(":") &&
           Digits(2, &fields->minute) && Literal(":") &&
           Digits(2, &fields->second);
  }

 private:
  absl::string_view rest_;
};

bool ReadImfFixdate(absl::string_view text, Fields* fields) {
  Cursor cursor(text);
  int weekday;
  return cursor.OneOf(kShortDays, &weekday) && cursor.Literal(", ") &&
         cursor.Digits(2, &fields->day) && cursor.Literal(" ") &&
         cursor.Month(&fields->month) && cursor.Literal(" ") &&
         cursor.Digits(4, &fields->year) && cursor.Literal(" ") &&
         cursor.TimeOfDay(fields) && cursor.Literal(" GMT") && cursor.AtEnd();
}

// Leaves the year as two digits.
bool ReadRfc850(absl::string_view text, Fields* fields) {
  Cursor cursor(text);
  int weekday;
  return cursor.OneOf(kLongDays, &weekday) && cursor.Literal(", ") &&
         cursor.Digits(2, &fields->day) && cursor.Literal("-") &&
         cursor.Month(&fields->month) && cursor.Literal("-") &&
         cursor.Digits(2, &fields->year) && cursor.Literal(" ") &&
         cursor.TimeOfDay(fields) && cursor.Literal(" GMT") && cursor.AtEnd();
}

bool ReadAsctime(absl::string_view text, Fields* fields) {
  Cursor cursor(text);
  int weekday;
  if (!cursor.OneOf(kShortDays, &weekday) || !cursor.Literal(" ") ||
      !cursor.Month(&fields->month) || !cursor.Literal(" ")) {
    return false;
  }
  const bool padded = cursor.Literal(" ");
  return cursor.Digits(padded ? 1 : 2, &fields->day) && cursor.Literal(" ") &&
         cursor.TimeOfDay(fields) && cursor.Literal(" ") &&
         cursor.Digits(4, &fields->year) && cursor.AtEnd();
}

absl::CivilSecond ToCivil(const Fields& f) {
  return absl::CivilSecond(f.year, f.month, f.day, f.hour, f.minute, f.second);
}

// The latest year that ends in these digits and does not put the date more than
// fifty years after `now`.
int FullYear(Fields fields, absl::Time now) {
  absl::CivilSecond civil_now = absl::ToCivilSecond(now, absl::UTCTimeZone());
  if (civil_now.year() < 100) civil_now = absl::CivilSecond(100);
  if (civil_now.year() > 9900) civil_now = absl::CivilSecond(9900);
  const absl::CivilSecond limit(civil_now.year() + 50, civil_now.month(),
                                civil_now.day(), civil_now.hour(),
                                civil_now.minute(), civil_now.second());
  fields.year += static_cast<int>(limit.year() / 100) * 100;
  if (ToCivil(fields) > limit) fields.year -= 100;
  return fields.year;
}

absl::optional<absl::Time> ToTime(Fields fields) {
  if (fields.hour > 23 || fields.minute > 59 || fields.second > 60) {
    return absl::nullopt;
  }
  // Civil time has no second 60.
  const bool leap = fields.second == 60;
  if (leap) fields.second = 59;
  const absl::CivilSecond civil = ToCivil(fields);
  // An impossible date was moved to another one.
  if (civil.month() != fields.month || civil.day() != fields.day) {
    return absl::nullopt;
  }
  const absl::Time time = absl::FromCivil(civil, absl::UTCTimeZone());
  return leap ? time + absl::Seconds(1) : time;
}

}  // namespace

absl::optional<absl::Time> ParseHttpDate(absl::string_view text,
                                         absl::Time now) {
  Fields fields;
  if (ReadImfFixdate(text, &fields) || ReadAsctime(text, &fields)) {
    return ToTime(fields);
  }
  if (ReadRfc850(text, &fields)) {
    fields.year = FullYear(fields, now);
    return ToTime(fields);
  }
  return absl::nullopt;
}

}  // namespace redial
