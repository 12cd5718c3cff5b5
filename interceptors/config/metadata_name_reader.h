// Names of metadata and headers in JSON.
//
// Pure functions over a JsonReader; problems go to its list.
//
//   absl::optional<std::string> name = ReadOwnMetadataName(reader);
#ifndef REDIAL_CONFIG_METADATA_NAME_READER_H_
#define REDIAL_CONFIG_METADATA_NAME_READER_H_

#include <string>

#include "absl/types/optional.h"
#include "redial/config/json_reader.h"

namespace redial {

// The name of something that redial sends: 1 to 128 of a-z 0-9 - _ ., not
// beginning with "grpc-", not ending with "-bin", and no header that HTTP
// itself uses.
absl::optional<std::string> ReadOwnMetadataName(const JsonReader& reader);

// The name of something that a peer sends, to be looked for: any of those
// characters.
absl::optional<std::string> ReadPeerMetadataName(const JsonReader& reader);

}  // namespace redial

#endif  // REDIAL_CONFIG_METADATA_NAME_READER_H_
