// Metadata in a scenario: a name to a string or a list of strings.
#ifndef TOOLS_REDIAL_SCENARIO_SCENARIO_METADATA_READER_H_
#define TOOLS_REDIAL_SCENARIO_SCENARIO_METADATA_READER_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "redial/config/json_reader.h"
#include "tools/redial/scenario/scenario.h"

namespace redial {

// Of gRPC: names and values must be ones that can be sent; values of -bin names
// are base64.
ScenarioMetadata ReadScenarioMetadata(const JsonReader& reader);

// Of HTTP: names in any case, given back in lower case.
ScenarioMetadata ReadScenarioHeaders(const JsonReader& reader);

// Bytes of a name and a value, of all of them, and of a status message, as a
// gRPC peer counts what it receives.
size_t HeaderBytes(absl::string_view name, absl::string_view value);
size_t HeaderBytes(const ScenarioMetadata& metadata);
size_t StatusMessageBytes(absl::string_view message);

// An error where `bytes`, of `what`, are more than a peer takes by default: it
// would answer RESOURCE_EXHAUSTED of its own.
void CheckHeaderBytes(const JsonReader& at, absl::string_view what,
                      size_t bytes);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_SCENARIO_METADATA_READER_H_
