// Expectations: does the result of a scenario hold what its file expects?
//
//   for (const std::string& failure : CheckExpectations(scenario, result)) ...
#ifndef TOOLS_REDIAL_SCENARIO_EXPECTATIONS_H_
#define TOOLS_REDIAL_SCENARIO_EXPECTATIONS_H_

#include <string>
#include <vector>

#include "tools/redial/scenario/scenario.h"
#include "tools/redial/scenario/scenario_result.h"

namespace redial {

// A line for each expectation that does not hold:
// "expect.calls[0].attempts: 2; expected 3".
std::vector<std::string> CheckExpectations(const Scenario& scenario,
                                           const ScenarioResult& result);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_EXPECTATIONS_H_
