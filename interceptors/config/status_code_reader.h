// Status codes in JSON: names in any case, or numbers (gRFC A6).
//
// Pure functions over a JsonReader; problems go to its list.
//
//   absl::optional<absl::StatusCode> code = ReadFailureCode(reader);
#ifndef REDIAL_CONFIG_STATUS_CODE_READER_H_
#define REDIAL_CONFIG_STATUS_CODE_READER_H_

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/core/classifier.h"

namespace redial {

// A code of a failure: "UNAVAILABLE", "unavailable" or 14. OK is an error.
absl::optional<absl::StatusCode> ReadFailureCode(const JsonReader& reader);

// An array of them. Wrong elements are reported and left out; none if it is no
// array.
absl::optional<CodeSet> ReadFailureCodes(const JsonReader& reader);

}  // namespace redial

#endif  // REDIAL_CONFIG_STATUS_CODE_READER_H_
