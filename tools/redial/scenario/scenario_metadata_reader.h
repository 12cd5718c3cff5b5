// Metadata in a scenario: a name to a string or a list of strings.
#ifndef TOOLS_REDIAL_SCENARIO_SCENARIO_METADATA_READER_H_
#define TOOLS_REDIAL_SCENARIO_SCENARIO_METADATA_READER_H_

#include "redial/config/json_reader.h"
#include "tools/redial/scenario/scenario.h"

namespace redial {

// Of gRPC: names and values must be ones that can be sent; values of -bin names
// are base64.
ScenarioMetadata ReadScenarioMetadata(const JsonReader& reader);

// Of HTTP: names in any case, given back in lower case.
ScenarioMetadata ReadScenarioHeaders(const JsonReader& reader);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_SCENARIO_METADATA_READER_H_
