// The names that scenarios and results use (scenario.proto).
#ifndef TOOLS_REDIAL_SCENARIO_SCENARIO_NAMES_H_
#define TOOLS_REDIAL_SCENARIO_SCENARIO_NAMES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/core/call_report.h"
#include "tools/redial/scenario/scenario.h"

namespace redial {

absl::string_view GrpcApiName(GrpcApi api);

// Problems go to the reader's list.
absl::optional<GrpcApi> ReadGrpcApi(const JsonReader& reader);
absl::optional<StopReason> ReadStopReason(const JsonReader& reader);
// "OK", "UNAVAILABLE", ...
absl::optional<absl::StatusCode> ReadCode(const JsonReader& reader);

// The canonical code of an HTTP status.
absl::StatusCode CodeOfHttpStatus(int status);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_SCENARIO_NAMES_H_
