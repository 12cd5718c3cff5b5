// MachineSimulator: runs one CallMachine against a script, in virtual time.
//
// For tests of policies and of machines: no threads, no sockets, no waiting,
// and the contract of the machine is checked with every run. Make a new one for
// each run. Not thread-safe.
//
//   MachineSimulator simulator({SimulatedAnswer::Error(kUnavailable),
//                               SimulatedAnswer::Ok()});
//   RetryMachine machine(simulator.Setup(policy, &random));
//   SimulationResult result = simulator.Run(machine);
//   EXPECT_THAT(result.report, Attempts(2));
//   EXPECT_THAT(result.violations, IsEmpty());
#ifndef REDIAL_TESTING_MACHINE_SIMULATOR_H_
#define REDIAL_TESTING_MACHINE_SIMULATOR_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redial/core/call_machine.h"
#include "redial/core/instant.h"
#include "redial/core/policy.h"
#include "redial/core/random_source.h"
#include "redial/core/retry_machine.h"
#include "redial/testing/simulated_answer.h"
#include "redial/testing/simulated_call.h"
#include "redial/testing/virtual_time.h"

namespace redial {

class MachineSimulator {
 public:
  // Answers are given in the order in which attempts begin; the last one
  // repeats for ever. An empty script hangs. The call starts at `start`.
  explicit MachineSimulator(std::vector<SimulatedAnswer> script,
                            Instant start = Instant())
      : script_(std::move(script)), start_(start), time_(start) {}

  // A setup whose call starts with the simulation and, where `timeout` is
  // finite, has that as the caller's deadline.
  CallSetup Setup(std::shared_ptr<const MethodPolicy> policy,
                  RandomSource* random,
                  absl::Duration timeout = absl::InfiniteDuration()) const;

  // The call is ended from outside so long after its start; zero and less means
  // before the start.
  void EndAt(absl::Duration after, EndCause cause);
  void CancelAt(absl::Duration after) { EndAt(after, EndCause::kCaller); }

  // Runs until nothing is left to happen; more than 200,000 events are a
  // violation.
  SimulationResult Run(CallMachine& machine);

 private:
  static constexpr size_t kMaxEvents = 200000;

  struct Ending {
    absl::Duration after;
    EndCause cause;
  };

  const std::vector<SimulatedAnswer> script_;
  const Instant start_;
  VirtualTime time_;
  std::vector<Ending> endings_;
};

}  // namespace redial

#endif  // REDIAL_TESTING_MACHINE_SIMULATOR_H_
