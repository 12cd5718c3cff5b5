// Explanation: what redial will do for one method under a service config.
//
// Every verdict in it was asked of the engine (Assess, Decide, BackoffRange,
// the budgets); nothing of their rules is repeated here. A pure function of its
// arguments.
//
//   Explanation e = Explain(result, "/shop.Orders/Create",
//   Idempotency::kUnknown); PrintExplanation(e, palette, out);
#ifndef TOOLS_REDIAL_EXPLANATION_H_
#define TOOLS_REDIAL_EXPLANATION_H_

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/config/service_config.h"
#include "redial/core/backoff.h"
#include "redial/core/call_report.h"
#include "redial/core/classifier.h"
#include "redial/core/idempotency.h"
#include "redial/core/policy.h"
#include "tools/redial/text_layout.h"

namespace redial {

// How the entry for the method was found.
enum class EntryMatch { kNone, kDefault, kService, kMethod };

// What happens after a first attempt that ended in one way.
struct OutcomeVerdict {
  // "UNAVAILABLE", or in words what is special: "grpc-retry-pushback-ms: 2000".
  std::string outcome;
  OutcomeClass outcome_class = OutcomeClass::kSuccess;
  bool retried = false;
  std::string why;
  // The wait before the next attempt, where retried.
  DelayRange wait{};
  WaitSource wait_from = WaitSource::kNone;
};

struct ExplainedWait {
  int before_attempt = 2;
  DelayRange wait{};
  // Of all waits so far.
  DelayRange sum{};
};

struct Explanation {
  std::string method;
  EntryMatch match = EntryMatch::kNone;
  // "methodConfig[1].name[0]"; empty if there is no entry.
  std::string name_path;
  // Null: redial does nothing for the method.
  std::shared_ptr<const MethodPolicy> policy;
  // May the request be sent again although the server may have acted.
  bool may_send_twice = false;
  Idempotency descriptor = Idempotency::kUnknown;

  // The 17 codes in their order.
  std::vector<OutcomeVerdict> codes;
  // Ends that the code alone does not tell apart.
  std::vector<OutcomeVerdict> special;
  // What a delay that the server asks for does to an outcome that is retried.
  std::vector<OutcomeVerdict> pushback;

  // The first of them; `waits_left_out` more would follow.
  std::vector<ExplainedWait> waits;
  int waits_left_out = 0;
  // Attempts and waits, at most; infinite: unbounded without a deadline.
  absl::Duration worst_case = absl::InfiniteDuration();

  // Failures in a row after which the throttle stops retries; 0: no throttle.
  int failures_to_throttle = 0;
  absl::optional<ThrottleParameters> throttle;
};

// `result` must have a policy. `method`: "/package.Service/Method".
Explanation Explain(const ServiceConfigResult& result, absl::string_view method,
                    Idempotency descriptor);

// For people; lines have at most kMaxColumns columns.
void PrintExplanation(const Explanation& explanation,
                      absl::string_view file_name, const Palette& palette,
                      std::ostream& out);

// As JSON, without a line feed at the end.
std::string ExplanationJson(const Explanation& explanation,
                            absl::string_view file_name);

}  // namespace redial

#endif  // TOOLS_REDIAL_EXPLANATION_H_
