// An Explanation for people.

#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "redial/config/decimal_text.h"
#include "redial/config/duration_text.h"
#include "redial/core/backoff.h"
#include "redial/core/call_report.h"
#include "redial/core/idempotency.h"
#include "redial/core/policy.h"
#include "tools/redial/explanation.h"
#include "tools/redial/text_layout.h"

namespace redial {
namespace {

constexpr size_t kLabelColumns = 18;
constexpr size_t kCodeColumns = 22;
constexpr size_t kClassColumns = 17;
constexpr size_t kRetriedColumns = 9;

std::string RangeText(const DelayRange& range) {
  if (range.low == range.high) return DurationText(range.low);
  return absl::StrCat(DurationText(range.low), " to ",
                      DurationText(range.high));
}

class Printer {
 public:
  Printer(const Explanation& e, const Palette& palette, std::ostream& out)
      : e_(e), palette_(palette), out_(out) {}

  void Entry(absl::string_view file_name);
  void Outcomes();
  void Waits();
  void Load();
  void Times();
  void Metadata();

 private:
  void Line(absl::string_view label, absl::string_view text) {
    out_ << Wrapped(Padded(label, kLabelColumns), text);
  }
  void Heading(absl::string_view text) {
    out_ << "\n" << palette_(Tone::kHeading, text) << "\n";
  }
  void Row(const OutcomeVerdict& verdict);
  void Special(const OutcomeVerdict& verdict);

  const Explanation& e_;
  const Palette& palette_;
  std::ostream& out_;
};

void Printer::Entry(absl::string_view file_name) {
  out_ << palette_(Tone::kHeading, e_.method) << "\n"
       << "in " << file_name << "\n\n";
  std::string why;
  switch (e_.match) {
    case EntryMatch::kMethod:
      why = "names exactly this method";
      break;
    case EntryMatch::kService:
      why = "names the service, and no entry names the method";
      break;
    case EntryMatch::kDefault:
      why = "is the default, and no entry names the method or its service";
      break;
    case EntryMatch::kNone:
      Line("entry",
           "none: no entry names the method or its service, and there "
           "is no default");
      break;
  }
  if (e_.match != EntryMatch::kNone) {
    Line("entry", absl::StrCat(e_.name_path, ", which ", why,
                               "; entries are not merged"));
  }
  if (e_.policy == nullptr) {
    Line("redial", "does nothing for this method: one attempt, nothing added");
    return;
  }
  const Idempotency unknown = Idempotency::kUnknown;
  if (!e_.may_send_twice) {
    Line("idempotency",
         "must not run twice: retried only where the server did not act or the "
         "config chose it, and in calls that bring an idempotency key");
  } else if (MaySendTwice(e_.descriptor, unknown, false)) {
    Line("idempotency", "may run twice, as its descriptor says");
  } else if (MaySendTwice(unknown, e_.policy->idempotency, false)) {
    Line("idempotency", "may run twice, as the config says");
  } else {
    Line("idempotency", "may run twice, because each call carries a key");
  }
  if (e_.descriptor == unknown) {
    Line("",
         "(--idempotency=idempotent explains a method whose descriptor has "
         "that level)");
  }
}

void Printer::Row(const OutcomeVerdict& verdict) {
  const bool ok = verdict.outcome_class == OutcomeClass::kSuccess;
  const std::string lead = absl::StrCat(
      "  ", Padded(verdict.outcome, kCodeColumns),
      Padded(OutcomeClassName(verdict.outcome_class), kClassColumns));
  const std::string retried = ok ? "-" : verdict.retried ? "yes" : "no";
  // Colours have no columns: they are put around the word afterwards.
  const std::string line = Wrapped(
      absl::StrCat(lead, Padded(retried, kRetriedColumns)), verdict.why);
  out_ << lead
       << (ok ? retried
              : palette_(verdict.retried ? Tone::kGood : Tone::kBad, retried))
       << line.substr(lead.size() + retried.size());
}

void Printer::Special(const OutcomeVerdict& verdict) {
  std::string text = absl::StrCat(
      verdict.outcome, ": ",
      verdict.retried ? "retried after " : "not retried, ",
      verdict.retried
          ? absl::StrCat(RangeText(verdict.wait), " (",
                         WaitSourceName(verdict.wait_from), "): ", verdict.why)
          : verdict.why);
  out_ << Wrapped("  ", text);
}

void Printer::Outcomes() {
  Heading("After the first attempt, with time left");
  out_ << "  " << Padded("code", kCodeColumns) << Padded("class", kClassColumns)
       << Padded("retried", kRetriedColumns) << "why\n";
  for (const OutcomeVerdict& verdict : e_.codes) Row(verdict);
  out_ << "\n";
  for (const OutcomeVerdict& verdict : e_.special) Special(verdict);
  if (e_.policy->retry && !e_.policy->retry->classifier.rules.empty()) {
    out_ << Wrapped("  ",
                    absl::StrCat(e_.policy->retry->classifier.rules.size(),
                                 " rules of the config come first; those about "
                                 "anything but the code do not show here"));
  }
  if (e_.pushback.empty()) return;
  Heading("If the server names a delay");
  for (const OutcomeVerdict& verdict : e_.pushback) Special(verdict);
}

void Printer::Waits() {
  Heading("Attempts and waits");
  if (!e_.policy->retry) {
    Line("  attempts", "1: this entry has no retry");
    return;
  }
  const int attempts = e_.policy->retry->max_attempts;
  Line("  attempts",
       attempts == RetryPolicy::kUnlimitedAttempts
           ? std::string("any number, until the deadline")
           : absl::StrCat("at most ", attempts, ", the first included"));
  for (const ExplainedWait& wait : e_.waits) {
    Line(absl::StrCat("  before ", wait.before_attempt),
         absl::StrCat(Padded(RangeText(wait.wait), 30), "together ",
                      RangeText(wait.sum)));
  }
  if (e_.waits_left_out > 0) {
    Line("", e_.policy->retry->max_attempts == RetryPolicy::kUnlimitedAttempts
                 ? std::string("and so on")
                 : absl::StrCat("and ", e_.waits_left_out, " more"));
  }
  for (const AttemptLimit& limit : e_.policy->retry->attempt_limits) {
    Line("  limit",
         absl::StrCat("at most ", limit.max_attempts, " attempts that end ",
                      limit.code ? CodeName(*limit.code)
                                 : OutcomeClassName(*limit.outcome_class)));
  }
}

void Printer::Times() {
  const MethodPolicy& policy = *e_.policy;
  Heading("Time");
  const auto or_none = [](absl::Duration limit) {
    return limit == absl::InfiniteDuration() ? std::string("none")
                                             : DurationText(limit);
  };
  Line("  timeout", absl::StrCat(or_none(policy.timeout),
                                 policy.timeout == absl::InfiniteDuration()
                                     ? " in the config: the caller's own "
                                       "deadline alone holds"
                                     : " for the whole call; the caller's own "
                                       "deadline, where earlier, holds"));
  Line("  each attempt", or_none(policy.attempt_timeout));
  Line("  retry window", or_none(policy.retry_window));
  Line("  in a server",
       policy.inherit_deadline
           ? absl::StrCat("inherits the inbound deadline, minus ",
                          DurationText(policy.deadline_reserve))
           : std::string("does not inherit the inbound deadline"));
  Line("  worst case",
       e_.worst_case == absl::InfiniteDuration()
           ? std::string("unbounded without a deadline")
           : absl::StrCat(DurationText(e_.worst_case),
                          policy.timeout == e_.worst_case
                              ? ", when the timeout ends the call"
                              : ", if the server names no delay"));
}

void Printer::Load() {
  Heading("Limits on the load");
  if (e_.throttle) {
    const auto tokens = [](int64_t thousandths) {
      return ShortestDecimal(static_cast<double>(thousandths) / 1000);
    };
    Line("  throttling",
         absl::StrCat(tokens(e_.throttle->max_milli_tokens),
                      " tokens for all calls to the server; a failure takes 1, "
                      "a success gives ",
                      tokens(e_.throttle->milli_token_ratio), "; ",
                      e_.failures_to_throttle,
                      " failures in a row stop all retries"));
  } else {
    Line("  throttling", "none");
  }
  Line("  budget", e_.policy->retry_budget == nullptr
                       ? std::string("none")
                       : e_.policy->retry_budget->Describe());
  if (e_.policy->retry) {
    Line("  request", absl::StrCat("kept for a retry up to ",
                                   e_.policy->retry->max_retained_request_bytes,
                                   " bytes; a larger one is sent once"));
  }
}

void Printer::Metadata() {
  const MethodPolicy& policy = *e_.policy;
  Heading("Sent along");
  Line("  key", policy.key.generate
                    ? absl::StrCat(policy.key.name,
                                   ": one per call, the same on each attempt; "
                                   "the caller's own goes first")
                    : absl::StrCat(policy.key.name,
                                   ": only where the caller gives one"));
  Line("  attempts so far", policy.previous_attempts_name.empty()
                                ? std::string("not sent")
                                : absl::StrCat(policy.previous_attempts_name,
                                               ", from the second attempt on"));
}

}  // namespace

void PrintExplanation(const Explanation& explanation,
                      absl::string_view file_name, const Palette& palette,
                      std::ostream& out) {
  Printer printer(explanation, palette, out);
  printer.Entry(file_name);
  if (explanation.policy == nullptr) return;
  printer.Outcomes();
  printer.Waits();
  printer.Times();
  printer.Load();
  printer.Metadata();
}

}  // namespace redial
