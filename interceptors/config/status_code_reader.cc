#include "redial/config/status_code_reader.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/core/call_report.h"
#include "redial/core/classifier.h"

namespace redial {

absl::optional<absl::StatusCode> ReadFailureCode(const JsonReader& reader) {
  absl::optional<absl::StatusCode> code;
  if (reader.is_string()) {
    code = CodeFromName(*reader.String());
  } else if (reader.is_number()) {
    constexpr int64_t kLastCode = 16;
    const absl::optional<int64_t> number = reader.Integer(0, kLastCode);
    if (!number) return absl::nullopt;
    code = static_cast<absl::StatusCode>(*number);
  }
  if (!code) {
    reader.Expected(
        "the name of a status code, such as \"UNAVAILABLE\", or its number");
    return absl::nullopt;
  }
  if (*code == absl::StatusCode::kOk) {
    reader.Error("is OK, which is no failure; take it out");
    return absl::nullopt;
  }
  return code;
}

absl::optional<CodeSet> ReadFailureCodes(const JsonReader& reader) {
  const absl::optional<JsonArray> array = reader.Array();
  if (!array) return absl::nullopt;
  CodeSet codes;
  for (size_t i = 0; i < array->size(); ++i) {
    const absl::optional<absl::StatusCode> code = ReadFailureCode((*array)[i]);
    if (code) codes.Add(*code);
  }
  return codes;
}

}  // namespace redial
