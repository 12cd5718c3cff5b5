// Classifier: from an outcome to its class.
//
// Every outcome maps to one OutcomeClass; class, idempotency and policy decide
// together, never a bare code. The user's rules come first (the first that
// matches wins), then the codes listed by the policy, then the defaults
// (features 1.1 to 1.3).
#ifndef REDIAL_CORE_CLASSIFIER_H_
#define REDIAL_CORE_CLASSIFIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "redial/core/outcome.h"

namespace redial {

enum class OutcomeClass {
  kSuccess,
  kUnprocessed,  // the server provably did not act
  kTransient,    // may pass; only idempotent calls, or codes the owner listed
  kThrottled,    // the server refused for load and said so
  kAttemptTimeout,  // our own limit on one attempt ran out
  kPermanent,       // trying again cannot help
  kCancelled,       // by the caller, never by the server
  kDeadline,        // the call's deadline passed
};

// A set of canonical status codes.
class CodeSet {
 public:
  constexpr CodeSet() = default;
  CodeSet(std::initializer_list<absl::StatusCode> codes) {
    for (absl::StatusCode code : codes) Add(code);
  }
  void Add(absl::StatusCode code) { bits_ |= Bit(code); }
  bool Contains(absl::StatusCode code) const {
    return (bits_ & Bit(code)) != 0;
  }
  bool empty() const { return bits_ == 0; }
  friend bool operator==(CodeSet a, CodeSet b) { return a.bits_ == b.bits_; }

 private:
  static uint32_t Bit(absl::StatusCode code) {
    const int number = static_cast<int>(code);
    return number < 0 || number > 31 ? 0 : uint32_t{1} << number;
  }
  uint32_t bits_ = 0;
};

// One rule of the user's. Every condition that is set must hold; a rule with
// no condition matches nothing.
struct ClassRule {
  absl::optional<absl::StatusCode> code;
  absl::optional<int> http_status;
  absl::optional<std::string> error_reason;
  absl::optional<std::string> error_domain;
  // Name of a header or trailer, lower case; present, or equal to the value.
  absl::optional<std::string> metadata_name;
  absl::optional<std::string> metadata_value;
  absl::optional<TransportError> transport_error;
  absl::optional<bool> attempt_timed_out;

  // What a matching outcome is. kSuccess, kCancelled and kDeadline are not
  // for a rule to give.
  OutcomeClass outcome_class = OutcomeClass::kPermanent;

  bool Matches(const Outcome& outcome) const;
};

struct ClassifierPolicy {
  std::vector<ClassRule> rules;
  // The codes of a gRPC retryPolicy. Where set, exactly these are retried,
  // whatever the idempotency: the service owner chose (A6). Where not set, the
  // defaults hold.
  absl::optional<CodeSet> retryable_codes;
};

struct Classification {
  OutcomeClass outcome_class = OutcomeClass::kSuccess;
  // The owner listed this code in a retryPolicy, so the method does not have to
  // be idempotent. A rule gives a class only: idempotency still counts.
  bool chosen_by_owner = false;
};

// The class of an attempt that was not ended by the caller or the call's
// deadline; the machine knows those two itself.
Classification Classify(const ClassifierPolicy& policy, const Outcome& outcome);

}  // namespace redial

#endif  // REDIAL_CORE_CLASSIFIER_H_
