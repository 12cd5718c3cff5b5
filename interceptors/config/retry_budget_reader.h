// "retryBudget" of a "redial" object (features 4.3).
//
//   std::shared_ptr<RetryBudget> budget = ReadRetryBudget(reader);
#ifndef REDIAL_CONFIG_RETRY_BUDGET_READER_H_
#define REDIAL_CONFIG_RETRY_BUDGET_READER_H_

#include <memory>

#include "redial/config/json_reader.h"
#include "redial/core/retry_budget.h"

namespace redial {

// {"ttl": "10s", "ratio": 0.2, "minRetriesPerSecond": 10} or
// {"inFlight": {"ratio": 0.2, "minRetries": 3}}, each with these defaults. A
// new budget each time; null where there are problems, which go to the reader's
// list.
std::shared_ptr<RetryBudget> ReadRetryBudget(const JsonReader& reader);

}  // namespace redial

#endif  // REDIAL_CONFIG_RETRY_BUDGET_READER_H_
