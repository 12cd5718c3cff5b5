#include "tools/redial/scenario/scenario_names.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace redial {

absl::string_view GrpcApiName(GrpcApi api) {
  switch (api) {
    case GrpcApi::kSync:
      return "SYNC";
    case GrpcApi::kCompletionQueue:
      return "COMPLETION_QUEUE";
    case GrpcApi::kCallback:
      return "CALLBACK";
    case GrpcApi::kReactor:
      return "REACTOR";
  }
  return "SYNC";
}

absl::optional<GrpcApi> ReadGrpcApi(const JsonReader& reader) {
  return reader.Enum<GrpcApi>({
      {"SYNC", GrpcApi::kSync},
      {"COMPLETION_QUEUE", GrpcApi::kCompletionQueue},
      {"CALLBACK", GrpcApi::kCallback},
      {"REACTOR", GrpcApi::kReactor},
  });
}

absl::optional<StopReason> ReadStopReason(const JsonReader& reader) {
  std::string known;
  for (int i = 0; i <= static_cast<int>(StopReason::kShutdown); ++i) {
    const auto reason = static_cast<StopReason>(i);
    if (reader.is_string() &&
        absl::AsciiStrToUpper(*reader.String()) == StopReasonName(reason)) {
      return reason;
    }
    absl::StrAppend(&known, i == 0 ? "" : ", ", StopReasonName(reason));
  }
  reader.Expected(absl::StrCat("one of ", known));
  return absl::nullopt;
}

absl::optional<absl::StatusCode> ReadCode(const JsonReader& reader) {
  if (reader.is_string()) {
    const absl::optional<absl::StatusCode> code =
        CodeFromName(*reader.String());
    if (code.has_value()) return code;
  }
  reader.Expected("the name of a status code, such as \"UNAVAILABLE\"");
  return absl::nullopt;
}

absl::StatusCode CodeOfHttpStatus(int status) {
  switch (status) {
    case 400:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 408:
    case 504:
      return absl::StatusCode::kDeadlineExceeded;
    case 409:
      return absl::StatusCode::kAborted;
    case 412:
      return absl::StatusCode::kFailedPrecondition;
    case 416:
      return absl::StatusCode::kOutOfRange;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    case 499:
      return absl::StatusCode::kCancelled;
    case 501:
      return absl::StatusCode::kUnimplemented;
    case 502:
    case 503:
      return absl::StatusCode::kUnavailable;
    default:
      break;
  }
  if (status >= 200 && status <= 299) return absl::StatusCode::kOk;
  if (status >= 400 && status <= 499) {
    return absl::StatusCode::kFailedPrecondition;
  }
  if (status >= 500 && status <= 599) return absl::StatusCode::kInternal;
  return absl::StatusCode::kUnknown;
}

}  // namespace redial
