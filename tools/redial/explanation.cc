#include "tools/redial/explanation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "redial/config/duration_text.h"
#include "redial/config/method_config_reader.h"
#include "redial/core/attempt_ledger.h"
#include "redial/core/backoff.h"
#include "redial/core/call_report.h"
#include "redial/core/decision.h"
#include "redial/core/idempotency.h"
#include "redial/core/outcome.h"
#include "redial/core/policy_table.h"
#include "redial/core/pushback.h"
#include "redial/core/random_source.h"
#include "redial/core/throttle.h"

namespace redial {
namespace {

constexpr int kCodes = 17;
constexpr int kShownWaits = 8;
constexpr int64_t kSummedWaits = 10000;

// The ends of what jitter can draw.
class FixedBits final : public RandomSource {
 public:
  explicit FixedBits(uint64_t bits) : bits_(bits) {}
  uint64_t NextBits() override { return bits_; }

 private:
  const uint64_t bits_;
};

// Asks the engine about calls of one method, after the first attempt.
class Oracle {
 public:
  Oracle(const MethodPolicy& policy, bool may_send_twice) : policy_(policy) {
    facts_.deadline = facts_.now + policy.timeout;
    facts_.window_end = facts_.now + policy.retry_window;
    facts_.may_send_twice = may_send_twice;
  }

  OutcomeVerdict Ask(std::string name, const Outcome& outcome) const {
    const RetryPolicy* retry = policy_.retry ? &*policy_.retry : nullptr;
    const Assessment assessment = Assess(retry, outcome, facts_);
    OutcomeVerdict verdict;
    verdict.outcome = std::move(name);
    verdict.outcome_class = assessment.outcome_class;
    StopReason stop = assessment.stop.value_or(StopReason::kNoPolicy);
    if (retry != nullptr && !assessment.stop) {
      AttemptLedger ledger;
      ledger.CallStarted(facts_.now);
      ledger.AttemptStarted(1, AttemptKind::kFirst, absl::ZeroDuration(),
                            WaitSource::kNone, facts_.now);
      ledger.AttemptEnded(1, outcome, assessment.outcome_class, facts_.now);
      FixedBits lowest(0);
      FixedBits highest(std::numeric_limits<uint64_t>::max());
      const Decision low = Decide(*retry, outcome, assessment, facts_, ledger,
                                  /*throttle_allows=*/true, lowest);
      const Decision high = Decide(*retry, outcome, assessment, facts_, ledger,
                                   /*throttle_allows=*/true, highest);
      verdict.retried = low.retry;
      verdict.wait = {low.wait, high.retry ? high.wait : low.wait};
      verdict.wait_from = high.retry ? high.wait_from : low.wait_from;
      stop = low.stop;
      if (low.retry) {
        verdict.why = assessment.chosen_by_owner ? "the config chose it"
                      : facts_.may_send_twice    ? "the method may run twice"
                                                 : "the server did not act";
        return verdict;
      }
    }
    verdict.why = std::string(StopReasonText(stop));
    return verdict;
  }

 private:
  const MethodPolicy& policy_;
  CallFacts facts_;
};

Outcome WithCode(absl::StatusCode code) {
  Outcome outcome;
  outcome.code = code;
  return outcome;
}

void ExplainOutcomes(const Oracle& oracle, Explanation* e) {
  for (int i = 0; i < kCodes; ++i) {
    const auto code = static_cast<absl::StatusCode>(i);
    e->codes.push_back(oracle.Ask(std::string(CodeName(code)), WithCode(code)));
  }
  Outcome asked = WithCode(absl::StatusCode::kResourceExhausted);
  asked.pushback = {Pushback::Kind::kDelay, absl::ZeroDuration(),
                    WaitSource::kRetryInfo, false};
  e->special.push_back(
      oracle.Ask("RESOURCE_EXHAUSTED and a delay from the server", asked));
  Outcome untouched = WithCode(absl::StatusCode::kUnavailable);
  untouched.unprocessed = true;
  e->special.push_back(oracle.Ask(
      "UNAVAILABLE, and the server provably did not act", untouched));
  if (e->policy->attempt_timeout != absl::InfiniteDuration()) {
    Outcome timed_out = WithCode(absl::StatusCode::kDeadlineExceeded);
    timed_out.attempt_timed_out = true;
    e->special.push_back(
        oracle.Ask(absl::StrCat("an attempt that takes ",
                                DurationText(e->policy->attempt_timeout)),
                   timed_out));
  }
  Outcome begun = WithCode(absl::StatusCode::kUnavailable);
  begun.headers_received = true;
  e->special.push_back(
      oracle.Ask("UNAVAILABLE after headers of an answer", begun));
}

void ExplainPushback(const Oracle& oracle, Explanation* e) {
  const auto retried =
      std::find_if(e->codes.begin(), e->codes.end(),
                   [](const OutcomeVerdict& code) { return code.retried; });
  if (retried == e->codes.end()) return;
  const auto code = static_cast<absl::StatusCode>(retried - e->codes.begin());
  const auto ask = [&](std::string what, Pushback pushback) {
    Outcome outcome = WithCode(code);
    outcome.pushback = pushback;
    e->pushback.push_back(oracle.Ask(std::move(what), outcome));
  };
  const absl::Duration sample = absl::Seconds(2);
  const absl::Duration beyond =
      e->policy->retry->pushback.cap + absl::Seconds(1);
  const auto delay = [](absl::Duration length, WaitSource source) {
    return Pushback{Pushback::Kind::kDelay, length, source, false};
  };
  ask(absl::StrCat(kGrpcRetryPushbackMs, ": 2000"),
      ParseGrpcRetryPushbackMs("2000"));
  ask(absl::StrCat(kGrpcRetryPushbackMs, ": -1"),
      ParseGrpcRetryPushbackMs("-1"));
  ask(absl::StrCat("RetryInfo of ", DurationText(sample)),
      delay(sample, WaitSource::kRetryInfo));
  ask(absl::StrCat("RetryInfo of ", DurationText(beyond)),
      delay(beyond, WaitSource::kRetryInfo));
}

void ExplainWaits(Explanation* e) {
  const MethodPolicy& policy = *e->policy;
  const absl::Duration of_attempts =
      policy.retry ? policy.attempt_timeout * policy.retry->max_attempts
                   : policy.attempt_timeout;
  DelayRange sum{};
  absl::Duration previous;
  const int64_t waits = policy.retry ? policy.retry->max_attempts - 1 : 0;
  for (int64_t n = 0; n < std::min(waits, kSummedWaits); ++n) {
    const DelayRange wait = BackoffRange(policy.retry->backoff, n, previous);
    previous = wait.high;
    sum = {sum.low + wait.low, sum.high + wait.high};
    if (n < kShownWaits) {
      e->waits.push_back({static_cast<int>(n) + 2, wait, sum});
    }
  }
  if (waits > kSummedWaits) {
    sum.high += previous * static_cast<double>(waits - kSummedWaits);
  }
  e->waits_left_out =
      static_cast<int>(waits - std::min<int64_t>(waits, kShownWaits));
  if (policy.retry &&
      policy.retry->max_attempts == RetryPolicy::kUnlimitedAttempts) {
    sum.high = absl::InfiniteDuration();
  }
  e->worst_case =
      std::min({sum.high + of_attempts,
                policy.retry_window + policy.attempt_timeout, policy.timeout});
}

void ExplainThrottle(const PolicyTable& table, Explanation* e) {
  e->throttle = table.throttle();
  if (!e->throttle) return;
  RetryThrottle throttle(*e->throttle);
  do {
    ++e->failures_to_throttle;
  } while (throttle.RecordFailure());
}

// Names of the entry that Find takes its policy from.
void FindEntry(const ServiceConfigResult& result, Explanation* e) {
  const absl::string_view method = e->method;
  const size_t slash = method.rfind('/');
  const absl::string_view service = method.substr(1, slash - 1);
  const absl::string_view name = method.substr(slash + 1);
  for (const ConfigEntry& entry : result.entries) {
    EntryMatch match = EntryMatch::kNone;
    if (entry.service.empty()) {
      match = EntryMatch::kDefault;
    } else if (entry.service == service && entry.method.empty()) {
      match = EntryMatch::kService;
    } else if (entry.service == service && entry.method == name) {
      match = EntryMatch::kMethod;
    }
    if (match > e->match) {
      e->match = match;
      e->name_path = entry.name_path;
    }
  }
}

}  // namespace

Explanation Explain(const ServiceConfigResult& result, absl::string_view method,
                    Idempotency descriptor) {
  Explanation e;
  e.method = std::string(method);
  e.descriptor = descriptor;
  FindEntry(result, &e);
  const auto* found = result.policy->Find(method);
  if (found != nullptr) e.policy = *found;
  if (e.policy == nullptr) return e;
  e.may_send_twice =
      MaySendTwice(descriptor, e.policy->idempotency, e.policy->key.generate);
  const Oracle oracle(*e.policy, e.may_send_twice);
  ExplainOutcomes(oracle, &e);
  ExplainPushback(oracle, &e);
  ExplainWaits(&e);
  ExplainThrottle(*result.policy, &e);
  return e;
}

}  // namespace redial
