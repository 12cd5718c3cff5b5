#include "tools/redial/scenario/expectations.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "redial/config/duration_text.h"
#include "redial/core/call_report.h"

namespace redial {
namespace {

class Checker {
 public:
  Checker(size_t call, std::vector<std::string>* failures)
      : at_(absl::StrCat("expect.calls[", call, "].")), failures_(failures) {}

  void Equal(absl::string_view what, absl::string_view is,
             absl::string_view expected) {
    if (is != expected) Fail(what, is, expected);
  }
  void InRange(absl::string_view what, absl::Duration is,
               const ScenarioRange& range) {
    if (is >= range.at_least && is <= range.at_most) return;
    const std::string least =
        absl::StrCat("at least ", DurationText(range.at_least));
    Fail(what, DurationText(is),
         range.at_most == absl::InfiniteDuration()
             ? least
             : absl::StrCat(least, ", at most ", DurationText(range.at_most)));
  }

 private:
  void Fail(absl::string_view what, absl::string_view is,
            absl::string_view expected) {
    failures_->push_back(
        absl::StrCat(at_, what, ": ", is, "; expected ", expected));
  }

  const std::string at_;
  std::vector<std::string>* const failures_;
};

void CheckCall(const ScenarioExpectedCall& expected,
               const ScenarioCallResult& call, Checker* check) {
  const std::vector<AttemptRecord>& attempts = call.report.attempts;
  if (expected.code.has_value()) {
    check->Equal("code", CodeName(call.code), CodeName(*expected.code));
  }
  if (expected.attempts.has_value()) {
    check->Equal("attempts", absl::StrCat(attempts.size()),
                 absl::StrCat(*expected.attempts));
  }
  if (expected.stop_reason.has_value()) {
    check->Equal("stopReason", StopReasonName(call.report.stop_reason),
                 StopReasonName(*expected.stop_reason));
  }
  if (expected.elapsed.has_value()) {
    check->InRange("elapsed", call.report.elapsed, *expected.elapsed);
  }
  if (!expected.waits.has_value()) return;
  std::vector<absl::Duration> waits;
  for (const AttemptRecord& attempt : attempts) {
    if (attempt.kind != AttemptKind::kFirst) waits.push_back(attempt.wait);
  }
  if (waits.size() != expected.waits->size()) {
    return check->Equal("waits", absl::StrCat(waits.size(), " retries"),
                        absl::StrCat(expected.waits->size(), " retries"));
  }
  for (size_t i = 0; i < waits.size(); ++i) {
    check->InRange(absl::StrCat("waits[", i, "]"), waits[i],
                   (*expected.waits)[i]);
  }
}

}  // namespace

std::vector<std::string> CheckExpectations(const Scenario& scenario,
                                           const ScenarioResult& result) {
  std::vector<std::string> failures;
  for (size_t i = 0; i < scenario.expect.size(); ++i) {
    if (i >= result.calls.size()) {
      failures.push_back(absl::StrCat("expect.calls[", i, "]: only ",
                                      result.calls.size(), " calls were made"));
      break;
    }
    Checker check(i, &failures);
    CheckCall(scenario.expect[i], result.calls[i], &check);
  }
  return failures;
}

}  // namespace redial
