// ErrorDetails: what we read of google.rpc.Status details.
//
// A small reader of the protobuf wire format, since core knows no protobuf and
// the google.rpc messages must not be linked twice. Total over any bytes; views
// point into the input.
#ifndef REDIAL_CORE_ERROR_DETAILS_H_
#define REDIAL_CORE_ERROR_DETAILS_H_

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace redial {

struct ErrorDetails {
  // The first google.rpc.RetryInfo that has a retry_delay. Negative or out of
  // range delays are left out and set `malformed`.
  absl::optional<absl::Duration> retry_delay;
  // The first google.rpc.ErrorInfo.
  absl::string_view error_reason;
  absl::string_view error_domain;
  // Some of the bytes could not be understood; what stood before them was
  // used.
  bool malformed = false;
};

// `status_details`: a serialized google.rpc.Status, as in
// `grpc-status-details-bin`. Empty bytes give an empty result.
ErrorDetails ParseErrorDetails(absl::string_view status_details);

}  // namespace redial

#endif  // REDIAL_CORE_ERROR_DETAILS_H_
