// Timeline: the result of a scenario as text for a person.
//
// Per call each attempt, each wait with its origin, and the reason for stopping
// in words; then what the server saw. At most 100 columns.
//
//   PrintTimeline(scenario, result, /*color=*/false, std::cout);
#ifndef TOOLS_REDIAL_SCENARIO_TIMELINE_H_
#define TOOLS_REDIAL_SCENARIO_TIMELINE_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "redial/core/call_report.h"
#include "redial/core/outcome.h"
#include "tools/redial/scenario/scenario.h"
#include "tools/redial/scenario/scenario_result.h"

namespace redial {

// Whether to use colour on standard output: it is a terminal, and NO_COLOR is
// not set.
bool ColorOnStandardOutput();

// Where a wait came from, in words: "backoff of the policy".
absl::string_view WaitText(WaitSource from);

// The attempts and waits of one call, and how it ended; each line indented.
void PrintCall(const CallReport& report, const std::string& message, bool color,
               std::ostream& out);

void PrintTimeline(const Scenario& scenario, const ScenarioResult& result,
                   bool color, std::ostream& out);

// The outcome of the expectations; nothing if there are none.
void PrintExpectations(const Scenario& scenario,
                       const std::vector<std::string>& failures, bool color,
                       std::ostream& out);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_TIMELINE_H_
