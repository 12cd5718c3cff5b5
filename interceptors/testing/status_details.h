// StatusDetails: the bytes of `grpc-status-details-bin`, for a scripted server.
//
// A serialized google.rpc.Status with RetryInfo and ErrorInfo, written without
// the google.rpc messages, which must not be linked twice. Pure function.
//
//   StatusDetails details;
//   details.retry_delay = absl::Milliseconds(200);
//   answer.details = EncodeStatusDetails(absl::StatusCode::kUnavailable,
//                                        "busy", details);
#ifndef REDIAL_TESTING_STATUS_DETAILS_H_
#define REDIAL_TESTING_STATUS_DETAILS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace redial {

struct StatusDetails {
  // google.rpc.RetryInfo.retry_delay; left out if absent.
  absl::optional<absl::Duration> retry_delay;
  // google.rpc.ErrorInfo; left out if both are empty.
  std::string error_reason;
  std::string error_domain;
};

std::string EncodeStatusDetails(absl::StatusCode code,
                                absl::string_view message,
                                const StatusDetails& details);

}  // namespace redial

#endif  // REDIAL_TESTING_STATUS_DETAILS_H_
