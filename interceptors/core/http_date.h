// HttpDate: the three date forms of HTTP, read strictly (RFC 9110 §5.6.7).
#ifndef REDIAL_CORE_HTTP_DATE_H_
#define REDIAL_CORE_HTTP_DATE_H_

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace redial {

// IMF-fixdate ("Sun, 06 Nov 1994 08:49:37 GMT"), RFC 850
// ("Sunday, 06-Nov-94 08:49:37 GMT"; a two-digit year more than 50 years after
// `now` is in the past century) or asctime ("Sun Nov  6 08:49:37 1994").
// Always GMT, independent of locale. Impossible dates are refused; second 60 is
// the next second; the name of the weekday must be one but need not fit.
absl::optional<absl::Time> ParseHttpDate(absl::string_view text,
                                         absl::Time now);

}  // namespace redial

#endif  // REDIAL_CORE_HTTP_DATE_H_
