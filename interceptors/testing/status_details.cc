#include "redial/testing/status_details.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace redial {
namespace {

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendNumber(int field, int64_t value, std::string* out) {
  if (value == 0) return;
  AppendVarint(static_cast<uint64_t>(field) << 3, out);
  AppendVarint(static_cast<uint64_t>(value), out);
}

void AppendBytes(int field, absl::string_view value, std::string* out) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | 2, out);
  AppendVarint(value.size(), out);
  out->append(value.data(), value.size());
}

// google.protobuf.Any of a google.rpc message.
void AppendDetail(absl::string_view type, absl::string_view message,
                  std::string* out) {
  std::string any;
  AppendBytes(1, absl::StrCat("type.googleapis.com/google.rpc.", type), &any);
  AppendBytes(2, message, &any);
  AppendBytes(3, any, out);
}

}  // namespace

std::string EncodeStatusDetails(absl::StatusCode code,
                                absl::string_view message,
                                const StatusDetails& details) {
  std::string status;
  AppendNumber(1, static_cast<int>(code), &status);
  if (!message.empty()) AppendBytes(2, message, &status);
  if (details.retry_delay.has_value()) {
    absl::Duration rest = *details.retry_delay;
    const int64_t seconds = absl::IDivDuration(rest, absl::Seconds(1), &rest);
    std::string duration;
    AppendNumber(1, seconds, &duration);
    AppendNumber(2, absl::ToInt64Nanoseconds(rest), &duration);
    std::string retry_info;
    AppendBytes(1, duration, &retry_info);
    AppendDetail("RetryInfo", retry_info, &status);
  }
  if (!details.error_reason.empty() || !details.error_domain.empty()) {
    std::string error_info;
    AppendBytes(1, details.error_reason, &error_info);
    AppendBytes(2, details.error_domain, &error_info);
    AppendDetail("ErrorInfo", error_info, &status);
  }
  return status;
}

}  // namespace redial
