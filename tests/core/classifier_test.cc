#include "redial/core/classifier.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "redial/core/call_report.h"
#include "redial/core/outcome.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using Code = absl::StatusCode;

class Metadata final : public MetadataView {
 public:
  Metadata(const std::string& name, const std::string& value)
      : values_{{name, value}} {}
  absl::optional<absl::string_view> Find(
      absl::string_view name) const override {
    const auto found = values_.find(std::string(name));
    if (found == values_.end()) return absl::nullopt;
    return absl::string_view(found->second);
  }

 private:
  const std::map<std::string, std::string> values_;
};

std::vector<Code> AllFailures() {
  std::vector<Code> codes;
  for (int n = 1; n <= 16; ++n) codes.push_back(static_cast<Code>(n));
  return codes;
}

Outcome With(Outcome outcome, const Pushback& pushback) {
  outcome.pushback = pushback;
  return outcome;
}

Outcome Unprocessed(Code code) {
  Outcome outcome = Failure(code);
  outcome.unprocessed = true;
  return outcome;
}

Outcome NotSent() {
  Outcome outcome = Failure(Code::kUnavailable);
  outcome.transport_error = TransportError::kNotSent;
  return outcome;
}

Outcome TimedOut() {
  Outcome outcome = Failure(Code::kDeadlineExceeded);
  outcome.attempt_timed_out = true;
  return outcome;
}

struct Row {
  std::string name;
  Outcome outcome;
  OutcomeClass outcome_class;
  bool chosen_by_owner = false;
};

void ExpectClasses(const ClassifierPolicy& policy,
                   const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Classification got = Classify(policy, row.outcome);
    EXPECT_EQ(OutcomeClassName(got.outcome_class),
              OutcomeClassName(row.outcome_class));
    EXPECT_EQ(got.chosen_by_owner, row.chosen_by_owner);
  }
}

// Features 1.2.
TEST(ClassifierTest, DefaultsOfEveryCode) {
  std::vector<Row> rows = {{"OK", Outcome(), OutcomeClass::kSuccess}};
  for (const Code code : AllFailures()) {
    rows.push_back({std::string(CodeName(code)), Failure(code),
                    code == Code::kUnavailable ? OutcomeClass::kTransient
                                               : OutcomeClass::kPermanent});
  }
  ExpectClasses(ClassifierPolicy(), rows);
}

TEST(ClassifierTest, DefaultsBeyondTheCode) {
  const Outcome exhausted = Failure(Code::kResourceExhausted);
  Pushback malformed;
  malformed.malformed = true;
  Outcome reset = Failure(Code::kUnavailable);
  reset.transport_error = TransportError::kReset;
  ExpectClasses(
      ClassifierPolicy(),
      {
          {"RESOURCE_EXHAUSTED with RetryInfo",
           With(exhausted, Asked(WaitSource::kRetryInfo, Ms(100))),
           OutcomeClass::kThrottled},
          {"RESOURCE_EXHAUSTED with a delay of zero",
           With(exhausted, Asked(WaitSource::kRetryInfo, Ms(0))),
           OutcomeClass::kThrottled},
          {"RESOURCE_EXHAUSTED with pushback",
           With(exhausted, Asked(WaitSource::kPushback, Ms(100))),
           OutcomeClass::kThrottled},
          {"RESOURCE_EXHAUSTED told to stop", With(exhausted, AskedToStop()),
           OutcomeClass::kPermanent},
          {"RESOURCE_EXHAUSTED with a delay that cannot be read",
           With(exhausted, malformed), OutcomeClass::kPermanent},
          {"INTERNAL with RetryInfo",
           With(Failure(Code::kInternal),
                Asked(WaitSource::kRetryInfo, Ms(100))),
           OutcomeClass::kPermanent},
          {"UNAVAILABLE was perhaps delivered", reset,
           OutcomeClass::kTransient},
          {"nothing was sent", NotSent(), OutcomeClass::kUnprocessed},
          {"the server did not act, whatever the code",
           Unprocessed(Code::kInternal), OutcomeClass::kUnprocessed},
          {"our own timeout", TimedOut(), OutcomeClass::kAttemptTimeout},
          {"a code that is none", Failure(static_cast<Code>(99)),
           OutcomeClass::kPermanent},
          {"a code below zero", Failure(static_cast<Code>(-1)),
           OutcomeClass::kPermanent},
      });
}

// Features 1.3.
TEST(ClassifierTest, ARetryPolicyMeansExactlyItsCodes) {
  for (const Code listed : AllFailures()) {
    ClassifierPolicy policy;
    policy.retryable_codes = CodeSet{listed};
    std::vector<Row> rows;
    for (const Code code : AllFailures()) {
      const std::string name(CodeName(code));
      if (code != listed) {
        rows.push_back({name, Failure(code), OutcomeClass::kPermanent});
        rows.push_back({name + " unprocessed", Unprocessed(code),
                        OutcomeClass::kPermanent});
        continue;
      }
      rows.push_back({name, Failure(code),
                      code == Code::kResourceExhausted
                          ? OutcomeClass::kThrottled
                          : OutcomeClass::kTransient,
                      true});
      rows.push_back({name + " unprocessed", Unprocessed(code),
                      OutcomeClass::kUnprocessed, true});
    }
    SCOPED_TRACE(CodeName(listed));
    ExpectClasses(policy, rows);
  }
}

TEST(ClassifierTest, ARetryPolicyKnowsWhatWasNotSentAndWhatTimedOut) {
  ClassifierPolicy policy;
  policy.retryable_codes = CodeSet{Code::kUnavailable};
  ExpectClasses(policy,
                {{"not sent", NotSent(), OutcomeClass::kUnprocessed, true},
                 {"timed out", TimedOut(), OutcomeClass::kAttemptTimeout},
                 {"OK", Outcome(), OutcomeClass::kSuccess},
                 {"a code that is none", Failure(static_cast<Code>(99)),
                  OutcomeClass::kPermanent}});
  policy.retryable_codes = CodeSet{Code::kDeadlineExceeded};
  ExpectClasses(policy, {{"timed out and listed", TimedOut(),
                          OutcomeClass::kAttemptTimeout, true}});
  policy.retryable_codes = CodeSet();
  ExpectClasses(policy,
                {{"an empty list lists nothing", Failure(Code::kUnavailable),
                  OutcomeClass::kPermanent}});
}

TEST(ClassifierTest, TheFirstRuleThatMatchesComesBeforeAllElse) {
  ClassRule veto;
  veto.metadata_name = "x-envoy-ratelimited";
  veto.outcome_class = OutcomeClass::kPermanent;
  ClassRule aborted;
  aborted.code = Code::kAborted;
  aborted.outcome_class = OutcomeClass::kTransient;
  ClassRule aborted_again = aborted;
  aborted_again.outcome_class = OutcomeClass::kUnprocessed;
  ClassRule everything_ok;
  everything_ok.code = Code::kOk;
  everything_ok.outcome_class = OutcomeClass::kPermanent;
  ClassifierPolicy policy;
  policy.rules = {veto, aborted, aborted_again, everything_ok};

  const Metadata limited("x-envoy-ratelimited", "true");
  Outcome vetoed = Failure(Code::kUnavailable);
  vetoed.metadata = &limited;
  Outcome vetoed_abort = Failure(Code::kAborted);
  vetoed_abort.metadata = &limited;
  Outcome vetoed_unprocessed = Unprocessed(Code::kUnavailable);
  vetoed_unprocessed.metadata = &limited;
  ExpectClasses(
      policy,
      {
          {"veto over a default", vetoed, OutcomeClass::kPermanent},
          {"veto over what was not acted on", vetoed_unprocessed,
           OutcomeClass::kPermanent},
          {"the first of two", vetoed_abort, OutcomeClass::kPermanent},
          {"the second rule, before the third", Failure(Code::kAborted),
           OutcomeClass::kTransient},
          {"no rule", Failure(Code::kUnavailable), OutcomeClass::kTransient},
          {"a success is not for a rule", Outcome(), OutcomeClass::kSuccess},
      });
  policy.retryable_codes = CodeSet{Code::kUnavailable};
  ExpectClasses(policy, {{"veto over a listed code", vetoed,
                          OutcomeClass::kPermanent, true},
                         {"a rule adds to the list", Failure(Code::kAborted),
                          OutcomeClass::kTransient, false}});
}

TEST(ClassifierTest, ARuleMayNameAnAttemptTimeout) {
  ClassRule rule;
  rule.attempt_timed_out = true;
  rule.outcome_class = OutcomeClass::kPermanent;
  ClassifierPolicy policy;
  policy.rules = {rule};
  ExpectClasses(policy, {{"timed out", TimedOut(), OutcomeClass::kPermanent},
                         {"something else", Failure(Code::kUnavailable),
                          OutcomeClass::kTransient}});
}

TEST(ClassRuleTest, EveryConditionThatIsSetMustHold) {
  const Metadata metadata("x-reason", "quota");
  Outcome outcome = Failure(Code::kResourceExhausted);
  outcome.http_status = 429;
  outcome.error_reason = "RATE_LIMIT";
  outcome.error_domain = "example.test";
  outcome.transport_error = TransportError::kReset;
  outcome.metadata = &metadata;

  struct RuleRow {
    std::string name;
    std::function<void(ClassRule&, bool)> set;  // to hold, or not to
  };
  const std::vector<RuleRow> rows = {
      {"code",
       [](ClassRule& r, bool holds) {
         r.code = holds ? Code::kResourceExhausted : Code::kInternal;
       }},
      {"HTTP status",
       [](ClassRule& r, bool holds) { r.http_status = holds ? 429 : 503; }},
      {"ErrorInfo reason",
       [](ClassRule& r, bool holds) {
         r.error_reason = holds ? "RATE_LIMIT" : "rate_limit";
       }},
      {"ErrorInfo domain",
       [](ClassRule& r, bool holds) {
         r.error_domain = holds ? "example.test" : "example";
       }},
      {"metadata that is there",
       [](ClassRule& r, bool holds) {
         r.metadata_name = holds ? "x-reason" : "x-other";
       }},
      {"metadata of a value",
       [](ClassRule& r, bool holds) {
         r.metadata_name = "x-reason";
         r.metadata_value = holds ? "quota" : "quot";
       }},
      {"transport error",
       [](ClassRule& r, bool holds) {
         r.transport_error =
             holds ? TransportError::kReset : TransportError::kNone;
       }},
      {"attempt timeout",
       [](ClassRule& r, bool holds) { r.attempt_timed_out = !holds; }},
  };
  ClassRule all;
  for (const RuleRow& row : rows) {
    SCOPED_TRACE(row.name);
    ClassRule alone;
    row.set(alone, true);
    EXPECT_TRUE(alone.Matches(outcome));
    row.set(alone, false);
    EXPECT_FALSE(alone.Matches(outcome));
    row.set(all, true);
  }
  EXPECT_TRUE(all.Matches(outcome));
  for (const RuleRow& row : rows) {
    SCOPED_TRACE("all but " + row.name);
    ClassRule all_but_one = all;
    row.set(all_but_one, false);
    EXPECT_FALSE(all_but_one.Matches(outcome));
  }
}

TEST(ClassRuleTest, NoConditionOrNoMetadataMatchesNothing) {
  EXPECT_FALSE(ClassRule().Matches(Failure(Code::kUnavailable)));
  ClassRule by_name;
  by_name.metadata_name = "x-reason";
  EXPECT_FALSE(by_name.Matches(Failure(Code::kUnavailable)));
  // A value of no name can hold for nothing, whatever stands beside it.
  ClassRule by_value;
  by_value.code = Code::kUnavailable;
  by_value.metadata_value = "quota";
  EXPECT_FALSE(by_value.Matches(Failure(Code::kUnavailable)));
}

TEST(CodeSetTest, HoldsCanonicalCodesAndIgnoresOthers) {
  CodeSet set;
  EXPECT_TRUE(set.empty());
  set.Add(static_cast<Code>(-1));
  set.Add(static_cast<Code>(32));
  EXPECT_TRUE(set.empty());
  set.Add(Code::kAborted);
  EXPECT_FALSE(set.empty());
  EXPECT_EQ(set, CodeSet{Code::kAborted});
  for (const Code code : AllFailures()) {
    EXPECT_EQ(set.Contains(code), code == Code::kAborted) << CodeName(code);
  }
  EXPECT_FALSE(set.Contains(static_cast<Code>(-1)));
  EXPECT_FALSE(set.Contains(static_cast<Code>(1000)));
}

}  // namespace
}  // namespace redial
