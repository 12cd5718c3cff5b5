#include "redial/core/call_options.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redial/core/operation.h"
#include "redial/core/policy.h"
#include "redial/core/retry_budget.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using Set = std::function<void(CallOptions&)>;

// Every field away from its default.
std::shared_ptr<const MethodPolicy> Base() {
  auto policy = ListedPolicy();
  policy->origin = "methodConfig[2]";
  policy->timeout = absl::Seconds(9);
  policy->attempt_timeout = absl::Seconds(3);
  policy->retry_window = absl::Seconds(5);
  policy->deadline_reserve = Ms(20);
  policy->idempotency = Idempotency::kIdempotent;
  policy->key.generate = true;
  policy->previous_attempts_name = "x-attempts";
  policy->explain_in_message = true;
  policy->retry->max_retained_request_bytes = 77;
  policy->retry->headers_commit = false;
  policy->retry->attempt_timeout_retry = AttemptTimeoutRetry::kAlways;
  policy->retry_budget =
      std::make_shared<InFlightRetryBudget>(InFlightRetryBudget::Parameters());
  return policy;
}

// The fields that an option can change, as text.
std::string Fields(const MethodPolicy& p) {
  std::string text = absl::StrCat(
      "timeout=", absl::FormatDuration(p.timeout),
      " attempt=", absl::FormatDuration(p.attempt_timeout),
      " window=", absl::FormatDuration(p.retry_window),
      " inherit=", p.inherit_deadline, " budget=", p.retry_budget != nullptr);
  if (p.retry.has_value()) {
    absl::StrAppend(&text, " max=", p.retry->max_attempts,
                    " base=", absl::FormatDuration(p.retry->backoff.base),
                    " rules=", p.retry->classifier.rules.size(), " listed=",
                    p.retry->classifier.retryable_codes.has_value());
  }
  return text;
}

BackoffPolicy OfBase(absl::Duration base) {
  BackoffPolicy backoff;
  backoff.base = base;
  return backoff;
}

struct Row {
  std::string name;
  Set set;
  std::string with_base;
  std::string without_base;
};

// Features 7.1: one field is replaced and the rest inherited.
TEST(CallOptionsTest, EachOptionReplacesOneField) {
  ClassifierPolicy one_rule;
  one_rule.rules.resize(1);
  const std::vector<Row> rows = {
      {"max_attempts", [](CallOptions& o) { o.set_max_attempts(9); },
       "timeout=9s attempt=3s window=5s inherit=1 budget=1 max=9 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=inf inherit=1 budget=0 max=9 base=500ms "
       "rules=0 listed=0"},
      {"one attempt makes no policy",
       [](CallOptions& o) { o.set_max_attempts(1); },
       "timeout=9s attempt=3s window=5s inherit=1 budget=1 max=1 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=inf inherit=1 budget=0"},
      {"max_attempts is at least one",
       [](CallOptions& o) { o.set_max_attempts(-3); },
       "timeout=9s attempt=3s window=5s inherit=1 budget=1 max=1 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=inf inherit=1 budget=0"},
      {"attempt_timeout",
       [](CallOptions& o) { o.set_attempt_timeout(absl::Seconds(1)); },
       "timeout=9s attempt=1s window=5s inherit=1 budget=1 max=4 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=1s window=inf inherit=1 budget=0"},
      {"attempt_timeout of zero is none",
       [](CallOptions& o) { o.set_attempt_timeout(absl::ZeroDuration()); },
       "timeout=9s attempt=inf window=5s inherit=1 budget=1 max=4 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=inf inherit=1 budget=0"},
      {"timeout", [](CallOptions& o) { o.set_timeout(absl::Seconds(20)); },
       "timeout=20s attempt=3s window=5s inherit=1 budget=1 max=4 base=100ms "
       "rules=0 listed=1",
       "timeout=20s attempt=inf window=inf inherit=1 budget=0"},
      {"timeout below zero has passed",
       [](CallOptions& o) { o.set_timeout(-absl::Seconds(1)); },
       "timeout=0 attempt=3s window=5s inherit=1 budget=1 max=4 base=100ms "
       "rules=0 listed=1",
       "timeout=0 attempt=inf window=inf inherit=1 budget=0"},
      {"timeout of infinity",
       [](CallOptions& o) { o.set_timeout(absl::InfiniteDuration()); },
       "timeout=inf attempt=3s window=5s inherit=1 budget=1 max=4 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=inf inherit=1 budget=0"},
      {"retry_window", [](CallOptions& o) { o.set_retry_window(Ms(70)); },
       "timeout=9s attempt=3s window=70ms inherit=1 budget=1 max=4 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=70ms inherit=1 budget=0"},
      {"retry_window below zero is zero",
       [](CallOptions& o) { o.set_retry_window(-Ms(1)); },
       "timeout=9s attempt=3s window=0 inherit=1 budget=1 max=4 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=0 inherit=1 budget=0"},
      {"backoff", [](CallOptions& o) { o.set_backoff(OfBase(Ms(7))); },
       "timeout=9s attempt=3s window=5s inherit=1 budget=1 max=4 base=7ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=inf inherit=1 budget=0 max=3 base=7ms "
       "rules=0 listed=0"},
      {"classifier", [=](CallOptions& o) { o.set_classifier(one_rule); },
       "timeout=9s attempt=3s window=5s inherit=1 budget=1 max=4 base=100ms "
       "rules=1 listed=0",
       "timeout=inf attempt=inf window=inf inherit=1 budget=0 max=3 base=500ms "
       "rules=1 listed=0"},
      {"backoff with one attempt",
       [](CallOptions& o) { o.set_max_attempts(1).set_backoff(OfBase(Ms(7))); },
       "timeout=9s attempt=3s window=5s inherit=1 budget=1 max=1 base=7ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=inf inherit=1 budget=0 max=1 base=7ms "
       "rules=0 listed=0"},
      {"inherit_deadline",
       [](CallOptions& o) { o.set_inherit_deadline(false); },
       "timeout=9s attempt=3s window=5s inherit=0 budget=1 max=4 base=100ms "
       "rules=0 listed=1",
       "timeout=inf attempt=inf window=inf inherit=0 budget=0"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    CallOptions options;
    row.set(options);
    EXPECT_EQ(Fields(*options.ApplyTo(Base())), row.with_base);
    EXPECT_EQ(Fields(*options.ApplyTo(nullptr)), row.without_base);
  }
}

TEST(CallOptionsTest, WhatNoOptionNamesIsInherited) {
  const std::shared_ptr<const MethodPolicy> base = Base();
  CallOptions options;
  options.set_max_attempts(2).set_timeout(absl::Seconds(1));
  const std::shared_ptr<const MethodPolicy> got = options.ApplyTo(base);
  EXPECT_EQ(got->origin, "methodConfig[2]");
  EXPECT_EQ(got->deadline_reserve, Ms(20));
  EXPECT_EQ(got->idempotency, Idempotency::kIdempotent);
  EXPECT_TRUE(got->key.generate);
  EXPECT_EQ(got->previous_attempts_name, "x-attempts");
  EXPECT_TRUE(got->explain_in_message);
  EXPECT_EQ(got->retry_budget, base->retry_budget);
  EXPECT_EQ(got->retry->max_retained_request_bytes, 77u);
  EXPECT_FALSE(got->retry->headers_commit);
  EXPECT_EQ(got->retry->attempt_timeout_retry, AttemptTimeoutRetry::kAlways);
  // The policy is shared by other calls.
  EXPECT_EQ(base->retry->max_attempts, 4);
  EXPECT_EQ(base->timeout, absl::Seconds(9));
}

TEST(CallOptionsTest, WithNothingToReplaceThePolicyIsTheSameObject) {
  const std::shared_ptr<const MethodPolicy> base = Base();
  EXPECT_EQ(CallOptions().ApplyTo(base), base);
  EXPECT_EQ(CallOptions().ApplyTo(nullptr), nullptr);
  Operation::Limits limits;
  limits.max_requests = 1;
  CallOptions options;
  options.set_idempotency_key("build-8812")
      .set_idempotent(true)
      .set_operation(std::make_shared<Operation>(limits));
  EXPECT_EQ(options.ApplyTo(base), base);
  EXPECT_EQ(options.idempotency_key(), "build-8812");
  EXPECT_EQ(options.idempotent(), true);
  EXPECT_EQ(options.operation()->max_requests(), 1);
}

TEST(CallOptionsTest, UnsetIsNotTheSameAsFalseOrEmpty) {
  CallOptions options;
  EXPECT_FALSE(options.idempotency_key().has_value());
  EXPECT_FALSE(options.idempotent().has_value());
  EXPECT_EQ(options.operation(), nullptr);
  options.set_idempotency_key("").set_idempotent(false);
  EXPECT_EQ(options.idempotency_key(), "");
  EXPECT_EQ(options.idempotent(), false);
}

TEST(CallOptionsTest, ABudgetTakesThePlaceOfTheMethods) {
  auto budget =
      std::make_shared<InFlightRetryBudget>(InFlightRetryBudget::Parameters());
  CallOptions options;
  options.set_retry_budget(budget);
  EXPECT_EQ(options.ApplyTo(Base())->retry_budget, budget);
  EXPECT_EQ(options.ApplyTo(nullptr)->retry_budget, budget);
  EXPECT_FALSE(options.ApplyTo(nullptr)->retry.has_value());
}

}  // namespace
}  // namespace redial
