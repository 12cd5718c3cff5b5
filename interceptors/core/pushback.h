// Pushback: what a server says about when to come back, in all its spellings
// (features 2.3, 2.4).
//
// The parsers are total: any bytes give an answer, in time linear in their
// length. Nothing here trusts strtol, sscanf, locale or a date library.
//
//   Pushback p = ReadPushback(&metadata, details, wall_now, true);
//   if (p.kind == Pushback::Kind::kDelay) Wait(p.delay);
#ifndef REDIAL_CORE_PUSHBACK_H_
#define REDIAL_CORE_PUSHBACK_H_

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/outcome.h"

namespace redial {

// The wire names, lower case.
inline constexpr absl::string_view kGrpcRetryPushbackMs =
    "grpc-retry-pushback-ms";
inline constexpr absl::string_view kRetryAfter = "retry-after";
inline constexpr absl::string_view kRetryAfterMs = "retry-after-ms";
inline constexpr absl::string_view kXMsRetryAfterMs = "x-ms-retry-after-ms";
inline constexpr absl::string_view kRateLimit = "ratelimit";

// `grpc-retry-pushback-ms` (A6): a canonical non-negative 32-bit integer is a
// delay; anything else (negative, empty, "007", "+5", "1.5", too large) means
// "do not retry".
Pushback ParseGrpcRetryPushbackMs(absl::string_view value);

// Retry-After (RFC 9110 §10.2.3): decimal digits, or one of the three HTTP-date
// forms; surrounding spaces and tabs are trimmed. A date in the past is a zero
// delay. Anything else is malformed and counts as absent. `wall_now` is the
// calendar time against which a date is read. A number beyond what a duration
// holds is an infinite delay.
Pushback ParseRetryAfter(absl::string_view value, absl::Time wall_now);

// `retry-after-ms`, `x-ms-retry-after-ms`: decimal digits, milliseconds, with
// an optional fraction.
Pushback ParseRetryAfterMs(absl::string_view value);

// RateLimit (draft-ietf-httpapi-ratelimit-headers): the `t` parameter of the
// first item whose remaining quota `r` is 0 (or that has no `r`).
Pushback ParseRateLimit(absl::string_view value);

// The delay of google.rpc.RetryInfo inside serialized google.rpc.Status bytes
// (`grpc-status-details-bin`). Absent, negative or malformed: kNone.
Pushback ParseRetryInfo(absl::string_view status_details);

// Everything above, first that is valid wins: grpc-retry-pushback-ms,
// RetryInfo, then, where `http_headers` is true, Retry-After, retry-after-ms,
// x-ms-retry-after-ms, RateLimit. `metadata` may be null.
Pushback ReadPushback(const MetadataView* metadata,
                      absl::string_view status_details, absl::Time wall_now,
                      bool http_headers);

}  // namespace redial

#endif  // REDIAL_CORE_PUSHBACK_H_
