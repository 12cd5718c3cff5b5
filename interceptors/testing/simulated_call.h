// SimulatedCall: the adapter of one CallMachine in virtual time.
//
// It does what an adapter does (starts attempts, waits, cancels, finishes),
// gets each attempt's answer from a function, and checks on the way that the
// machine keeps its contract. Several calls may share one VirtualTime; nothing
// here is thread-safe. MachineSimulator wraps it for the common case of one
// call.
//
//   SimulatedCall call(&time, &machine, answer_attempt);
//   call.Start();
//   time.Run();
//   call.Result().report.attempts ...
#ifndef REDIAL_TESTING_SIMULATED_CALL_H_
#define REDIAL_TESTING_SIMULATED_CALL_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "redial/core/call_machine.h"
#include "redial/core/call_report.h"
#include "redial/core/instant.h"
#include "redial/testing/simulated_answer.h"
#include "redial/testing/virtual_time.h"

namespace redial {

struct SimulationResult {
  // One Finish came out.
  bool finished = false;
  Finish finish;
  CallReport report;
  // What the caller sees: the status of Finish, or that of the attempt it
  // names.
  absl::Status status;
  // The answer of that attempt; empty where Finish names none.
  SimulatedAnswer answer;
  // What happened, a line for each action and answer: "100ms start 2 RETRY".
  std::vector<std::string> trace;
  // Broken invariants, in words. Empty if all is well.
  std::vector<std::string> violations;
};

class SimulatedCall {
 public:
  // Called when an attempt begins, at its time.
  using AnswerFunction = std::function<SimulatedAnswer(const StartAttempt&)>;
  // How an attempt ended: with its answer, or cut off before it.
  using EndedFunction = std::function<void(int number, bool cut_off)>;

  // `time` and `machine` must outlive the call.
  SimulatedCall(VirtualTime* time, CallMachine* machine, AnswerFunction answer);

  SimulatedCall(const SimulatedCall&) = delete;
  SimulatedCall& operator=(const SimulatedCall&) = delete;

  // Both optional, set before Start.
  void set_on_attempt_ended(EndedFunction ended) { ended_ = std::move(ended); }
  void set_on_finished(std::function<void()> f) { on_finished_ = std::move(f); }

  void Start();
  // May come before Start.
  void End(EndCause cause);

  // Whole once the call has finished; a call that will never finish (an
  // attempt without a deadline that nobody answers) has that as a violation.
  SimulationResult Result() const;

 private:
  struct Attempt {
    StartAttempt start;
    Instant began;
    SimulatedAnswer answer;
    VirtualTime::Event end;
    VirtualTime::Event handed_over;
    bool ended = false;
    bool cancelled = false;
  };

  void Do(const CallMachine::Actions& actions);
  void DoStart(const StartAttempt& start);
  void DoWait(const WaitUntil& wait);
  void DoCancel(const CancelAttempt& cancel);
  void DoFinish(const Finish& finish);
  void AttemptEnds(int number, bool cut_off);
  void CheckReport(const CallReport& report,
                   std::vector<std::string>* violations) const;
  void Trace(const std::string& line);
  void Violation(const std::string& what);
  int InFlight() const;

  VirtualTime* const time_;
  CallMachine* const machine_;
  const AnswerFunction answer_;
  EndedFunction ended_;
  std::function<void()> on_finished_;

  Instant start_;
  bool end_requested_ = false;
  std::map<int, Attempt> attempts_;
  VirtualTime::Event wake_;
  SimulationResult result_;
};

}  // namespace redial

#endif  // REDIAL_TESTING_SIMULATED_CALL_H_
