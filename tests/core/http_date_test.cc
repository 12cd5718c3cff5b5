#include "redial/core/http_date.h"

#include <clocale>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"

namespace redial {
namespace {

absl::Time Utc(int64_t year, int month, int day, int hour = 0, int minute = 0,
               int second = 0) {
  return absl::FromCivil(
      absl::CivilSecond(year, month, day, hour, minute, second),
      absl::UTCTimeZone());
}

const absl::Time kNow = Utc(2026, 11, 30, 12, 0, 0);

struct Row {
  std::string name;
  std::string text;
  absl::optional<int64_t> unix_seconds;  // none: refused
  absl::Time now = kNow;
};

std::string RowName(const testing::TestParamInfo<Row>& info) {
  return info.param.name;
}

class HttpDateTest : public testing::TestWithParam<Row> {};

TEST_P(HttpDateTest, ReadsExactlyTheGrammar) {
  const Row& row = GetParam();
  const absl::optional<absl::Time> time = ParseHttpDate(row.text, row.now);
  ASSERT_EQ(time.has_value(), row.unix_seconds.has_value()) << row.text;
  if (time.has_value()) {
    EXPECT_EQ(*time, absl::FromUnixSeconds(*row.unix_seconds)) << row.text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, HttpDateTest,
    testing::Values(
        Row{"Imf", "Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        Row{"Rfc850", "Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        Row{"Asctime", "Sun Nov  6 08:49:37 1994", 784111777},
        Row{"AsctimeTwoDigitDay", "Wed Nov 16 08:49:37 1994", 784975777},
        Row{"AsctimeZeroDay", "Sun Nov 06 08:49:37 1994", 784111777},
        Row{"Epoch", "Thu, 01 Jan 1970 00:00:00 GMT", 0},
        Row{"BeforeTheEpoch", "Wed, 31 Dec 1969 23:59:59 GMT", -1},
        Row{"LongPast", "Sun, 06 Nov 1800 08:49:37 GMT", -5337933023},
        Row{"FarFuture", "Sun, 06 Nov 3144 08:49:37 GMT", 37074617377},
        Row{"LastYear", "Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
        Row{"After2038", "Tue, 19 Jan 2038 03:14:08 GMT", 2147483648},
        Row{"LeapDay", "Thu, 29 Feb 2024 00:00:00 GMT", 1709164800},
        Row{"LeapDayOfTheCentury", "Tue, 29 Feb 2000 00:00:00 GMT", 951782400},
        Row{"LeapSecond", "Wed, 31 Dec 2008 23:59:60 GMT", 1230768000},
        Row{"WeekdayThatDoesNotFit", "Tue, 06 Nov 1994 08:49:37 GMT",
            784111777}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    Impossible, HttpDateTest,
    testing::Values(Row{"Feb31", "Fri, 31 Feb 2026 00:00:00 GMT", {}},
                    Row{"Feb29", "Sun, 29 Feb 2026 00:00:00 GMT", {}},
                    Row{"Feb29OfACentury", "Mon, 29 Feb 2100 00:00:00 GMT", {}},
                    Row{"Apr31", "Wed, 31 Apr 2024 12:00:00 GMT", {}},
                    Row{"Day0", "Sun, 00 Nov 1994 08:49:37 GMT", {}},
                    Row{"Day32", "Sun, 32 Dec 2030 23:59:59 GMT", {}},
                    Row{"Hour24", "Wed, 31 Dec 2008 24:00:00 GMT", {}},
                    Row{"Minute60", "Wed, 31 Dec 2008 23:60:00 GMT", {}},
                    Row{"Second61", "Wed, 31 Dec 2008 23:59:61 GMT", {}},
                    Row{"Rfc850Feb29", "Saturday, 29-Feb-25 00:00:00 GMT", {}},
                    Row{"AsctimeDay0", "Sun Nov  0 08:49:37 1994", {}}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    NotADate, HttpDateTest,
    testing::Values(
        Row{"Empty", "", {}}, Row{"Word", "tomorrow", {}},
        Row{"SpaceBefore", " Sun, 06 Nov 1994 08:49:37 GMT", {}},
        Row{"SpaceAfter", "Sun, 06 Nov 1994 08:49:37 GMT ", {}},
        Row{"Trailer", "Sun, 06 Nov 1994 08:49:37 GMT BLAH", {}},
        Row{"TwoValues", "Sun, 06 Nov 1994 08:49:37 GMT, 45", {}},
        Row{"Utc", "Sun, 06 Nov 1994 08:49:37 UTC", {}},
        Row{"Offset", "Sun, 06 Nov 1994 08:49:37 +0000", {}},
        Row{"NoZone", "Sun, 06 Nov 1994 08:49:37", {}},
        Row{"LowerCaseZone", "Sun, 06 Nov 1994 08:49:37 gmt", {}},
        Row{"LowerCaseMonth", "Sun, 06 nov 1994 08:49:37 GMT", {}},
        Row{"UnknownWeekday", "Zun, 06 Nov 1994 08:49:37 GMT", {}},
        Row{"UnknownMonth", "Sun, 06 Nop 1994 08:49:37 GMT", {}},
        Row{"LongMonth", "Sun, 06 November 1994 08:49:37 GMT", {}},
        Row{"NoWeekday", "06 Nov 1994 08:49:37 GMT", {}},
        Row{"OneDigitDay", "Sun, 6 Nov 1994 08:49:37 GMT", {}},
        Row{"OneDigitHour", "Sun, 06 Nov 1994 8:49:37 GMT", {}},
        Row{"TwoDigitYear", "Sun, 06 Nov 94 08:49:37 GMT", {}},
        Row{"FiveDigitYear", "Sun, 06 Nov 19940 08:49:37 GMT", {}},
        Row{"NegativeYear", "Sun, 06 Nov -994 08:49:37 GMT", {}},
        Row{"TwoSpaces", "Sun, 06 Nov  1994 08:49:37 GMT", {}},
        Row{"NoSpace", "Sun,06 Nov 1994 08:49:37 GMT", {}},
        Row{"Dashes", "Sun, 06-Nov-1994 08:49:37 GMT", {}},
        Row{"Rfc850ShortWeekday", "Sun, 06-Nov-94 08:49:37 GMT", {}},
        Row{"Rfc850LongYear", "Sunday, 06-Nov-1994 08:49:37 GMT", {}},
        Row{"AsctimeWithZone", "Sun Nov  6 08:49:37 1994 GMT", {}},
        Row{"AsctimeUnpadded", "Sun Nov 6 08:49:37 1994", {}},
        Row{"Iso8601", "1994-11-06T08:49:37Z", {}},
        Row{"Nul", std::string("Sun, 06 Nov 1994 08:49:37 GMT\0", 30), {}}),
    RowName);

// The two digits of a year stand for the latest year that is at most fifty
// years ahead.
INSTANTIATE_TEST_SUITE_P(
    Century, HttpDateTest,
    testing::Values(
        Row{"ThisYear", "Monday, 30-Nov-26 12:00:30 GMT",
            absl::ToUnixSeconds(kNow) + 30},
        Row{"Ahead49", "Monday, 30-Nov-75 12:00:00 GMT",
            absl::ToUnixSeconds(Utc(2075, 11, 30, 12))},
        Row{"Exactly50", "Monday, 30-Nov-76 12:00:00 GMT",
            absl::ToUnixSeconds(Utc(2076, 11, 30, 12))},
        Row{"ASecondMoreThan50", "Monday, 30-Nov-76 12:00:01 GMT",
            absl::ToUnixSeconds(Utc(1976, 11, 30, 12, 0, 1))},
        Row{"Ahead51", "Monday, 30-Nov-77 12:00:00 GMT",
            absl::ToUnixSeconds(Utc(1977, 11, 30, 12))},
        Row{"OverTheTurnOfTheCentury", "Friday, 01-Jan-05 00:00:00 GMT",
            absl::ToUnixSeconds(Utc(2005, 1, 1)), Utc(1999, 12, 31)},
        Row{"NowIsInfinitePast", "Friday, 01-Jan-05 00:00:00 GMT",
            absl::ToUnixSeconds(Utc(105, 1, 1)), absl::InfinitePast()},
        Row{"NowIsInfiniteFuture", "Friday, 01-Jan-05 00:00:00 GMT",
            absl::ToUnixSeconds(Utc(9905, 1, 1)), absl::InfiniteFuture()}),
    RowName);

TEST(HttpDateLocaleTest, DoesNotFollowTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  // Where none of them is installed the rest still holds.
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8"}) {
    std::setlocale(LC_ALL, locale);
    EXPECT_TRUE(ParseHttpDate("Mon, 11 May 2026 08:49:37 GMT", kNow)) << locale;
    EXPECT_FALSE(ParseHttpDate("Mon, 11 Mai 2026 08:49:37 GMT", kNow))
        << locale;
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(HttpDateTotalTest, EveryChangedByteGivesAnAnswer) {
  for (const std::string text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"}) {
    ASSERT_TRUE(ParseHttpDate(text, kNow)) << text;
    for (size_t i = 0; i < text.size(); ++i) {
      EXPECT_FALSE(ParseHttpDate(text.substr(0, i), kNow)) << i;
      for (int byte = 0; byte < 256; ++byte) {
        std::string changed = text;
        changed[i] = static_cast<char>(byte);
        const auto time = ParseHttpDate(changed, kNow);
        // Where it is a date, it is one of this calendar.
        if (time.has_value()) {
          EXPECT_GE(*time, Utc(0, 1, 1)) << changed;
          EXPECT_LE(*time, Utc(10000, 1, 1)) << changed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace redial
