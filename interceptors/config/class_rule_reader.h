// "rules" and "attemptLimits" of a "redial" object: the user's own view of
// outcomes (features 1.1, 4.1).
//
// Pure functions over a JsonReader; problems go to its list.
//
//   absl::optional<std::vector<ClassRule>> rules = ReadClassRules(reader);
#ifndef REDIAL_CONFIG_CLASS_RULE_READER_H_
#define REDIAL_CONFIG_CLASS_RULE_READER_H_

#include <vector>

#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/core/classifier.h"
#include "redial/core/policy.h"

namespace redial {

// An array of rules, in order: the first that matches an outcome wins.
absl::optional<std::vector<ClassRule>> ReadClassRules(const JsonReader& reader);

absl::optional<std::vector<AttemptLimit>> ReadAttemptLimits(
    const JsonReader& reader);

}  // namespace redial

#endif  // REDIAL_CONFIG_CLASS_RULE_READER_H_
