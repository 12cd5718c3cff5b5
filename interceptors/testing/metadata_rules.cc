#include "redial/testing/metadata_rules.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace redial {
namespace {

// Written by gRPC itself: a second one breaks the call, or never arrives. With
// grpclb_client_stats the process would abort.
constexpr std::array<absl::string_view, 18> kReserved = {
    "content-length",
    "content-type",
    "endpoint-load-metrics-bin",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-message",
    "grpc-status",
    "grpc-timeout",
    "grpc-internal-encoding-request",
    "grpc-server-stats-bin",
    "grpc-tags-bin",
    "grpc-trace-bin",
    "grpclb_client_stats",
    "lb-cost-bin",
    "host",
    "te",
    "user-agent",
    "transfer-encoding"};

constexpr size_t kMaxBytes = 8 * 1024;

}  // namespace

bool IsBinaryMetadata(absl::string_view name) {
  return absl::EndsWith(name, "-bin");
}

absl::Status CheckMetadata(absl::string_view name, absl::string_view value) {
  if (name.empty()) return absl::InvalidArgumentError("the name is empty");
  if (name.size() + value.size() > kMaxBytes) {
    return absl::InvalidArgumentError("is longer than 8 KiB");
  }
  for (char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '-' &&
        c != '_' && c != '.') {
      return absl::InvalidArgumentError(
          "the name may hold only a-z, 0-9, '-', '_' and '.'");
    }
  }
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) {
    return absl::InvalidArgumentError("the name is gRPC's own");
  }
  if (IsBinaryMetadata(name)) return absl::OkStatus();
  for (char c : value) {
    if (!absl::ascii_isprint(c)) {
      return absl::InvalidArgumentError(
          "the value may hold only printable ASCII; a name that ends in -bin "
          "takes any bytes");
    }
  }
  if (!value.empty() && (value.front() == ' ' || value.back() == ' ')) {
    return absl::InvalidArgumentError(
        "the value may not begin or end with a space");
  }
  return absl::OkStatus();
}

}  // namespace redial
