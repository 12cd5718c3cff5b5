// CheckMetadata: may this pair be sent as gRPC metadata?
//
// gRPC aborts the process on what it cannot send, so whatever comes from a file
// or a peer is checked first. Pure functions.
//
//   absl::Status s = CheckMetadata("x-team", "blue");
#ifndef REDIAL_TESTING_METADATA_RULES_H_
#define REDIAL_TESTING_METADATA_RULES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace redial {

// The name is made of [a-z0-9_.-], not empty, and not one that the protocol
// itself writes; the value of a name that does not end in -bin is printable
// ASCII, without a space at either end.
absl::Status CheckMetadata(absl::string_view name, absl::string_view value);

// Whether values of this name are bytes, base64 on the wire and in files.
bool IsBinaryMetadata(absl::string_view name);

}  // namespace redial

#endif  // REDIAL_TESTING_METADATA_RULES_H_
