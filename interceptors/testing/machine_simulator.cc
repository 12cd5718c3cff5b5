#include "redial/testing/machine_simulator.h"

#include <algorithm>

namespace redial {

CallSetup MachineSimulator::Setup(std::shared_ptr<const MethodPolicy> policy,
                                  RandomSource* random,
                                  absl::Duration timeout) const {
  CallSetup setup;
  setup.policy = std::move(policy);
  setup.random = random;
  setup.start = start_;
  setup.caller_deadline = start_ + timeout;
  return setup;
}

void MachineSimulator::EndAt(absl::Duration after, EndCause cause) {
  endings_.push_back({after, cause});
}

SimulationResult MachineSimulator::Run(CallMachine& machine) {
  size_t next = 0;
  SimulatedCall call(&time_, &machine, [&](const StartAttempt&) {
    if (script_.empty()) return SimulatedAnswer::Hang();
    return script_[std::min(next++, script_.size() - 1)];
  });
  for (const Ending& ending : endings_) {
    if (ending.after <= absl::ZeroDuration()) {
      call.End(ending.cause);
    } else {
      time_.At(start_ + ending.after, [&] { call.End(ending.cause); });
    }
  }
  call.Start();
  if (!time_.Run(kMaxEvents)) {
    SimulationResult result = call.Result();
    result.violations.push_back("the machine goes on for ever");
    return result;
  }
  return call.Result();
}

}  // namespace redial
