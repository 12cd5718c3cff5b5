// ConfigAdvice: what is legal in a service config, but unwise.
//
// For tools, which show it as warnings; reading a config does not depend on it.
// A pure function.
//
//   ServiceConfigResult result = ServiceConfig::Read(json);
//   for (const ConfigProblem& advice : ConfigAdvice(result)) ...
#ifndef REDIAL_CONFIG_ADVICE_H_
#define REDIAL_CONFIG_ADVICE_H_

#include <vector>

#include "redial/config/config_problem.h"
#include "redial/config/service_config.h"

namespace redial {

// Per method config, in its order, and then for the document. Empty if there is
// no policy.
std::vector<ConfigProblem> ConfigAdvice(const ServiceConfigResult& result);

}  // namespace redial

#endif  // REDIAL_CONFIG_ADVICE_H_
