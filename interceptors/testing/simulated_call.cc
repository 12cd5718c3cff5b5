#include "redial/testing/simulated_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/variant.h"
#include "redial/core/outcome.h"

namespace redial {

SimulatedCall::SimulatedCall(VirtualTime* time, CallMachine* machine,
                             AnswerFunction answer)
    : time_(time),
      machine_(machine),
      answer_(std::move(answer)),
      start_(time->Now()) {}

void SimulatedCall::Trace(const std::string& line) {
  result_.trace.push_back(
      absl::StrCat(absl::FormatDuration(time_->Now() - start_), " ", line));
}

void SimulatedCall::Violation(const std::string& what) {
  result_.violations.push_back(absl::StrCat(
      "at ", absl::FormatDuration(time_->Now() - start_), ": ", what));
}

int SimulatedCall::InFlight() const {
  return static_cast<int>(std::count_if(
      attempts_.begin(), attempts_.end(),
      [](const std::pair<const int, Attempt>& a) { return !a.second.ended; }));
}

void SimulatedCall::Start() {
  start_ = time_->Now();
  CallMachine::Actions actions;
  machine_->Start(time_->Now(), &actions);
  Do(actions);
}

void SimulatedCall::End(EndCause cause) {
  if (cause != EndCause::kDrain) end_requested_ = true;
  CallMachine::Actions actions;
  machine_->End(cause, time_->Now(), &actions);
  Trace("end");
  Do(actions);
}

void SimulatedCall::Do(const CallMachine::Actions& actions) {
  for (const CallMachine::Action& action : actions) {
    if (result_.finished) Violation("an action after Finish");
    // Any action takes the place of a wait.
    time_->Cancel(wake_);
    if (const auto* start = absl::get_if<StartAttempt>(&action)) {
      DoStart(*start);
    } else if (const auto* wait = absl::get_if<WaitUntil>(&action)) {
      DoWait(*wait);
    } else if (const auto* cancel = absl::get_if<CancelAttempt>(&action)) {
      DoCancel(*cancel);
    } else if (const auto* finish = absl::get_if<Finish>(&action)) {
      DoFinish(*finish);
    }
  }
}

void SimulatedCall::DoStart(const StartAttempt& start) {
  const Instant now = time_->Now();
  Trace(absl::StrCat("start ", start.number, " ", AttemptKindName(start.kind)));
  const int expected = static_cast<int>(attempts_.size()) + 1;
  if (start.number != expected) {
    Violation(
        absl::StrCat("attempt ", start.number, " in place of ", expected));
    if (attempts_.count(start.number) != 0) return;
  }
  if ((start.kind == AttemptKind::kFirst) != (expected == 1)) {
    Violation(absl::StrCat("attempt ", start.number, " is called ",
                           AttemptKindName(start.kind)));
  }
  if (start.kind != AttemptKind::kHedge && InFlight() > 0) {
    Violation("an attempt begins while another one is in flight");
  }
  if (now >= machine_->deadline()) {
    Violation("an attempt begins after the call's deadline");
  }
  if (start.deadline > machine_->deadline()) {
    Violation("an attempt outlives the call's deadline");
  }
  if (end_requested_) Violation("an attempt begins after the call was ended");

  const int number = start.number;
  Attempt& attempt = attempts_[number];
  attempt.start = start;
  attempt.began = now;
  attempt.answer = answer_(start);
  if (attempt.answer.handed_over_after.has_value()) {
    attempt.handed_over =
        time_->At(now + *attempt.answer.handed_over_after, [this, number] {
          Trace(absl::StrCat("commit ", number));
          machine_->Committed(number);
        });
  }
  const Instant answered = now + attempt.answer.delay;
  const bool cut_off = start.deadline <= answered;
  attempt.end =
      time_->At(std::min(answered, start.deadline),
                [this, number, cut_off] { AttemptEnds(number, cut_off); });
}

void SimulatedCall::DoWait(const WaitUntil& wait) {
  Trace(absl::StrCat("wait ", absl::FormatDuration(wait.wait), " ",
                     WaitSourceName(wait.wait_from)));
  if (wait.time < time_->Now()) Violation("a wait that ends in the past");
  if (wait.wait < absl::ZeroDuration()) Violation("a negative wait");
  if (wait.time >= machine_->deadline()) {
    Violation("a wait that ends after the call's deadline");
  }
  if (end_requested_) Violation("a wait begins after the call was ended");
  wake_ = time_->At(wait.time, [this] {
    CallMachine::Actions actions;
    machine_->Wake(time_->Now(), &actions);
    Do(actions);
  });
}

void SimulatedCall::DoCancel(const CancelAttempt& cancel) {
  Trace(absl::StrCat("cancel ", cancel.number));
  const auto found = attempts_.find(cancel.number);
  if (found == attempts_.end() || found->second.ended) {
    return Violation("an attempt is cancelled that is not in flight");
  }
  found->second.cancelled = true;
  time_->Cancel(found->second.end);
  found->second.end = time_->At(time_->Now(), [this, number = cancel.number] {
    AttemptEnds(number, /*cut_off=*/true);
  });
}

void SimulatedCall::AttemptEnds(int number, bool cut_off) {
  Attempt& attempt = attempts_[number];
  attempt.ended = true;
  time_->Cancel(attempt.handed_over);
  const bool own_timeout =
      cut_off && attempt.start.timeout != absl::InfiniteDuration();
  if (cut_off) {
    const bool headers =
        attempt.answer.headers_after.has_value() &&
        attempt.began + *attempt.answer.headers_after <= time_->Now();
    const Replay replay = attempt.answer.replay;
    attempt.answer =
        attempt.cancelled
            ? SimulatedAnswer::Error(absl::StatusCode::kCancelled, "CANCELLED")
            : SimulatedAnswer::Error(
                  absl::StatusCode::kDeadlineExceeded,
                  own_timeout ? absl::StrCat(
                                    "attempt timeout of ",
                                    absl::FormatDuration(attempt.start.timeout),
                                    " exceeded")
                              : "Deadline Exceeded");
    attempt.answer.headers_received = headers;
    attempt.answer.replay = replay;
  }
  const SimulatedMetadata metadata(attempt.answer.metadata);
  Outcome outcome = OutcomeOf(attempt.answer, metadata);
  outcome.attempt_timed_out = own_timeout && !attempt.cancelled;
  Trace(absl::StrCat("done ", number, " ", CodeName(outcome.code)));
  if (ended_ != nullptr) ended_(number, cut_off);
  CallMachine::Actions actions;
  machine_->AttemptDone(number, outcome, time_->Now(), &actions);
  Do(actions);
}

void SimulatedCall::DoFinish(const Finish& finish) {
  Trace(absl::StrCat("finish ", finish.attempt, " ",
                     StopReasonName(finish.reason)));
  if (result_.finished) return Violation("a second Finish");
  result_.finished = true;
  result_.finish = finish;
  result_.status = finish.status;
  if (!machine_->finished()) {
    Violation("Finish came, but the machine says that it goes on");
  }
  if (finish.attempt == 0) {
    if (finish.status.ok()) Violation("Finish without an attempt says OK");
  } else {
    const auto found = attempts_.find(finish.attempt);
    if (found == attempts_.end() || !found->second.ended) {
      Violation("Finish names an attempt that has not ended");
    } else {
      result_.answer = found->second.answer;
      result_.status =
          absl::Status(result_.answer.code, result_.answer.message);
    }
  }
  for (const auto& [number, attempt] : attempts_) {
    if (!attempt.ended && !attempt.cancelled) {
      Violation(
          absl::StrCat("attempt ", number, " lost and was not cancelled"));
    }
  }
  // Taken now: what the caller is told must be whole by then.
  result_.report = machine_->Report(time_->Now());
  CheckReport(result_.report, &result_.violations);
  if (on_finished_ != nullptr) on_finished_();
}

void SimulatedCall::CheckReport(const CallReport& report,
                                std::vector<std::string>* violations) const {
  if (report.attempts.size() != attempts_.size()) {
    violations->push_back(
        absl::StrCat("the report has ", report.attempts.size(),
                     " attempts; made were ", attempts_.size()));
  }
  if (report.code != result_.status.code()) {
    violations->push_back(absl::StrCat("the report says ",
                                       CodeName(report.code), ", the caller ",
                                       CodeName(result_.status.code())));
  }
  if (report.stop_reason != result_.finish.reason) {
    violations->push_back("the report and Finish differ in the reason");
  }
  for (const AttemptRecord& record : report.attempts) {
    const auto found = attempts_.find(record.number);
    if (found == attempts_.end() || record.kind != found->second.start.kind ||
        record.start != found->second.began - start_) {
      violations->push_back(
          absl::StrCat("the report is wrong about attempt ", record.number));
    }
  }
}

SimulationResult SimulatedCall::Result() const {
  SimulationResult result = result_;
  if (!result.finished) {
    result.report = machine_->Report(time_->Now());
    result.violations.push_back(absl::StrCat(
        "the call has not finished; attempts in flight: ", InFlight()));
  }
  return result;
}

}  // namespace redial
