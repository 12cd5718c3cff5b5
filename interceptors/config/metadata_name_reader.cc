#include "redial/config/metadata_name_reader.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"

namespace redial {
namespace {

constexpr size_t kMaxNameLength = 128;

constexpr absl::string_view kHttpOwn[] = {
    "connection", "content-length",    "content-type", "host",
    "te",         "transfer-encoding", "upgrade",      "user-agent"};

bool IsMetadataName(absl::string_view name) {
  for (char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '-' &&
        c != '_' && c != '.') {
      return false;
    }
  }
  return !name.empty() && name.size() <= kMaxNameLength;
}

}  // namespace

absl::optional<std::string> ReadPeerMetadataName(const JsonReader& reader) {
  absl::optional<std::string> name = reader.String();
  if (name && !IsMetadataName(*name)) {
    reader.Expected(
        "a metadata name: 1 to 128 lower-case letters, digits, '-', '_' and "
        "'.'");
    return absl::nullopt;
  }
  return name;
}

absl::optional<std::string> ReadOwnMetadataName(const JsonReader& reader) {
  absl::optional<std::string> name = ReadPeerMetadataName(reader);
  if (!name) return name;
  if (absl::StartsWith(*name, "grpc-")) {
    reader.Expected(
        "a name that does not begin with \"grpc-\", which is gRPC's");
    return absl::nullopt;
  }
  if (absl::EndsWith(*name, "-bin")) {
    reader.Expected(
        "a name that does not end with \"-bin\", which is for binary values");
    return absl::nullopt;
  }
  for (absl::string_view taken : kHttpOwn) {
    if (*name == taken) {
      reader.Expected("a name that HTTP does not use itself");
      return absl::nullopt;
    }
  }
  return name;
}

}  // namespace redial
