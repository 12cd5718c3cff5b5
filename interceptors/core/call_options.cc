#include "redial/core/call_options.h"

#include <algorithm>

namespace redial {
namespace {

// Nothing, zero or less means that there is no limit.
absl::Duration NoneIfZero(absl::Duration length) {
  return length > absl::ZeroDuration() ? length : absl::InfiniteDuration();
}

}  // namespace

CallOptions& CallOptions::set_max_attempts(int attempts) {
  max_attempts_ = std::max(attempts, 1);
  return *this;
}

CallOptions& CallOptions::set_attempt_timeout(absl::Duration timeout) {
  attempt_timeout_ = NoneIfZero(timeout);
  return *this;
}

CallOptions& CallOptions::set_timeout(absl::Duration timeout) {
  timeout_ = std::max(timeout, absl::ZeroDuration());
  return *this;
}

CallOptions& CallOptions::set_retry_window(absl::Duration window) {
  retry_window_ = std::max(window, absl::ZeroDuration());
  return *this;
}

CallOptions& CallOptions::set_idempotency_key(std::string key) {
  idempotency_key_ = std::move(key);
  return *this;
}

CallOptions& CallOptions::set_idempotent(bool idempotent) {
  idempotent_ = idempotent;
  return *this;
}

CallOptions& CallOptions::set_backoff(BackoffPolicy backoff) {
  backoff_ = std::move(backoff);
  return *this;
}

CallOptions& CallOptions::set_classifier(ClassifierPolicy classifier) {
  classifier_ = std::move(classifier);
  return *this;
}

CallOptions& CallOptions::set_operation(std::shared_ptr<Operation> operation) {
  operation_ = std::move(operation);
  return *this;
}

CallOptions& CallOptions::set_retry_budget(
    std::shared_ptr<RetryBudget> budget) {
  retry_budget_ = std::move(budget);
  return *this;
}

CallOptions& CallOptions::set_inherit_deadline(bool inherit) {
  inherit_deadline_ = inherit;
  return *this;
}

std::shared_ptr<const MethodPolicy> CallOptions::ApplyTo(
    const std::shared_ptr<const MethodPolicy>& base) const {
  const bool changes_retry = max_attempts_.has_value() ||
                             backoff_.has_value() || classifier_.has_value();
  if (!changes_retry && !attempt_timeout_ && !timeout_ && !retry_window_ &&
      !inherit_deadline_ && retry_budget_ == nullptr) {
    return base;
  }
  auto policy = base != nullptr ? std::make_shared<MethodPolicy>(*base)
                                : std::make_shared<MethodPolicy>();
  if (changes_retry) {
    // One attempt is what a method without a policy makes already.
    const bool only_one = max_attempts_ == 1 && !backoff_ && !classifier_;
    if (!policy->retry.has_value() && !only_one) policy->retry.emplace();
    if (policy->retry.has_value()) {
      if (max_attempts_) policy->retry->max_attempts = *max_attempts_;
      if (backoff_) policy->retry->backoff = *backoff_;
      if (classifier_) policy->retry->classifier = *classifier_;
    }
  }
  if (attempt_timeout_) policy->attempt_timeout = *attempt_timeout_;
  if (timeout_) policy->timeout = *timeout_;
  if (retry_window_) policy->retry_window = *retry_window_;
  if (inherit_deadline_) policy->inherit_deadline = *inherit_deadline_;
  if (retry_budget_ != nullptr) policy->retry_budget = retry_budget_;
  return policy;
}

}  // namespace redial
