// RunOnGrpc: runs the gRPC calls of a scenario on loopback, in real time.
//
// A real channel through redial and a real server that answers by the script.
// Where an answer drops its connection, every call in progress has a connection
// of its own, so that no other call is hit.
//
//   GrpcRunOptions options;
//   options.random = &random;
//   absl::StatusOr<ScenarioResult> result = RunOnGrpc(scenario, options);
#ifndef TOOLS_REDIAL_SCENARIO_GRPC_RUN_H_
#define TOOLS_REDIAL_SCENARIO_GRPC_RUN_H_

#include "absl/status/statusor.h"
#include "redial/core/random_source.h"
#include "redial/grpc/channel_options.h"
#include "tools/redial/scenario/scenario.h"
#include "tools/redial/scenario/scenario_result.h"

namespace redial {

struct GrpcRunOptions {
  DriverMode mode = DriverMode::kNativeFirst;
  // Of jitter and keys. Null: SharedRandom().
  RandomSource* random = nullptr;
};

// UNIMPLEMENTED for a call that has no gRPC form; UNAVAILABLE where the server
// cannot start. A call that nothing limits, with an attempt that hangs, never
// ends here: RunOnSimulation finds such scenarios. The retry budgets of the
// scenario's policy remember: read the scenario anew for each run.
absl::StatusOr<ScenarioResult> RunOnGrpc(const Scenario& scenario,
                                         const GrpcRunOptions& options);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_GRPC_RUN_H_
