// Reading a JSON file from disk.
#ifndef REDIAL_CONFIG_READ_FILE_H_
#define REDIAL_CONFIG_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace redial {

// The bytes of a file. NOT_FOUND, PERMISSION_DENIED, ... where it cannot be
// read; RESOURCE_EXHAUSTED if it is longer than kMaxJsonSize (json_document.h),
// of which no more is read. The message begins with the path.
absl::StatusOr<std::string> ReadJsonFile(const std::string& path);

}  // namespace redial

#endif  // REDIAL_CONFIG_READ_FILE_H_
