// RunOnSimulation: runs the gRPC calls of a scenario in virtual time.
//
// The engine's machines are driven as the gRPC adapter drives them, against the
// scripted answers: no threads, no sockets, the same result every time. The
// contract of the machines is checked on the way (ScenarioResult::violations).
//
//   SeededRandom random(seed);
//   absl::StatusOr<ScenarioResult> result = RunOnSimulation(scenario, &random);
#ifndef TOOLS_REDIAL_SCENARIO_SIMULATION_H_
#define TOOLS_REDIAL_SCENARIO_SIMULATION_H_

#include "absl/status/statusor.h"
#include "redial/core/random_source.h"
#include "tools/redial/scenario/scenario.h"
#include "tools/redial/scenario/scenario_result.h"

namespace redial {

// FAILED_PRECONDITION, with the call's path, where a call would never end: an
// attempt hangs and nothing limits it; UNIMPLEMENTED for a call that has no
// gRPC form.
absl::StatusOr<ScenarioResult> RunOnSimulation(const Scenario& scenario,
                                               RandomSource* random);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_SIMULATION_H_
