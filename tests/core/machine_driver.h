// MachineDriver: feeds a RetryMachine event by event and gives its actions
// back as lines of text ("start 2 RETRY", "wait 100ms BACKOFF", "cancel 1",
// "finish 1 SUCCESS"), so that a test reads as a dialogue.
//
//   MachineDriver call(setup);
//   EXPECT_THAT(call.Start(), ElementsAre("start 1 FIRST"));
//   EXPECT_THAT(call.Done(1, Failure(kUnavailable)), ElementsAre(...));
#ifndef REDIAL_TESTS_CORE_MACHINE_DRIVER_H_
#define REDIAL_TESTS_CORE_MACHINE_DRIVER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/variant.h"
#include "redial/core/call_machine.h"
#include "redial/core/call_report.h"
#include "redial/core/instant.h"
#include "redial/core/outcome.h"
#include "redial/core/policy.h"
#include "redial/core/retry_machine.h"

namespace redial {

inline absl::Duration Ms(double n) { return absl::Milliseconds(n); }

// Four attempts; waits of exactly 100 ms, 200 ms, 400 ms with a FixedRandom of
// 0.5; retries UNAVAILABLE and RESOURCE_EXHAUSTED.
inline std::shared_ptr<MethodPolicy> ListedPolicy() {
  auto policy = std::make_shared<MethodPolicy>();
  policy->retry.emplace();
  policy->retry->max_attempts = 4;
  policy->retry->backoff.form = BackoffForm::kProportional;
  policy->retry->backoff.base = Ms(100);
  policy->retry->backoff.max = absl::Seconds(1);
  policy->retry->classifier.retryable_codes = CodeSet{
      absl::StatusCode::kUnavailable, absl::StatusCode::kResourceExhausted};
  return policy;
}

// The same waits with the default classes.
inline std::shared_ptr<MethodPolicy> DefaultClassesPolicy() {
  auto policy = ListedPolicy();
  policy->retry->classifier.retryable_codes.reset();
  return policy;
}

// `message` must outlive the outcome.
inline Outcome Failure(absl::StatusCode code, absl::string_view message = "") {
  Outcome outcome;
  outcome.code = code;
  outcome.message = message;
  return outcome;
}

inline Pushback Asked(WaitSource source, absl::Duration delay) {
  Pushback pushback;
  pushback.kind = Pushback::Kind::kDelay;
  pushback.delay = delay;
  pushback.source = source;
  return pushback;
}

inline Pushback AskedToStop() {
  Pushback pushback;
  pushback.kind = Pushback::Kind::kStop;
  pushback.source = WaitSource::kPushback;
  return pushback;
}

class MachineDriver {
 public:
  using Lines = std::vector<std::string>;

  explicit MachineDriver(CallSetup setup)
      : now_(setup.start), machine_(std::move(setup)) {}

  void Advance(absl::Duration length) { now_ = now_ + length; }

  Lines Start() {
    machine_.Start(now_, Fresh());
    return Text();
  }
  Lines Done(int number, const Outcome& outcome) {
    machine_.AttemptDone(number, outcome, now_, Fresh());
    return Text();
  }
  Lines Wake() {
    machine_.Wake(now_, Fresh());
    return Text();
  }
  Lines End(EndCause cause) {
    machine_.End(cause, now_, Fresh());
    return Text();
  }

  RetryMachine& machine() { return machine_; }
  CallReport Report() const { return machine_.Report(now_); }
  // The status of the last Finish; OK where it names an attempt.
  const absl::Status& status() const { return status_; }
  const CallMachine::Actions& actions() const { return actions_; }

 private:
  CallMachine::Actions* Fresh() {
    actions_.clear();
    return &actions_;
  }
  Lines Text() {
    Lines lines;
    for (const CallMachine::Action& action : actions_) {
      if (const auto* start = absl::get_if<StartAttempt>(&action)) {
        lines.push_back(absl::StrCat("start ", start->number, " ",
                                     AttemptKindName(start->kind)));
      } else if (const auto* wait = absl::get_if<WaitUntil>(&action)) {
        lines.push_back(absl::StrCat("wait ", absl::FormatDuration(wait->wait),
                                     " ", WaitSourceName(wait->wait_from)));
      } else if (const auto* cancel = absl::get_if<CancelAttempt>(&action)) {
        lines.push_back(absl::StrCat("cancel ", cancel->number));
      } else if (const auto* finish = absl::get_if<Finish>(&action)) {
        status_ = finish->status;
        lines.push_back(absl::StrCat("finish ", finish->attempt, " ",
                                     StopReasonName(finish->reason)));
      }
    }
    return lines;
  }

  Instant now_;
  RetryMachine machine_;
  CallMachine::Actions actions_;
  absl::Status status_;
};

}  // namespace redial

#endif  // REDIAL_TESTS_CORE_MACHINE_DRIVER_H_
