// What every runner needs to know of a scenario's gRPC calls.
#ifndef TOOLS_REDIAL_SCENARIO_SCENARIO_CALLS_H_
#define TOOLS_REDIAL_SCENARIO_SCENARIO_CALLS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/redial/v1/echo.pb.h"
#include "redial/core/call_options.h"
#include "redial/core/idempotency.h"
#include "redial/core/policy.h"
#include "tools/redial/scenario/scenario.h"

namespace redial {

CallOptions OptionsOf(const ScenarioCall& call);

// The policy that holds for the call, its options included. Null: none.
std::shared_ptr<const MethodPolicy> PolicyOf(const Scenario& scenario,
                                             const ScenarioCall& call);

// The name of the metadata that tells the number of an attempt; empty if it is
// switched off.
std::string PreviousAttemptsNameOf(const Scenario& scenario,
                                   const std::string& method);

// What every call sends.
redial::v1::EchoRequest ScenarioRequest();

// idempotency_level of a method of the test service.
Idempotency DescriptorIdempotency(const std::string& method);

// OK if every call has a gRPC form.
absl::Status CheckGrpcCalls(const Scenario& scenario);

// The bytes of the answer's status details; empty if it has none.
std::string DetailsOf(const ScenarioAnswer& answer);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_SCENARIO_CALLS_H_
