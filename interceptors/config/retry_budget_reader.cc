#include "redial/config/retry_budget_reader.h"

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/config/json_reader.h"
#include "redial/core/retry_budget.h"

namespace redial {
namespace {

constexpr int64_t kMaxRetries = 1000000;
// A budget counts in millionths: more decimals are cut. More than a thousand
// retries for one call is no budget.
constexpr int kRatioDecimals = 6;
constexpr int64_t kMaxRatioMillionths = int64_t{1000} * 1000000;

absl::optional<int64_t> ReadRatio(const JsonReader& reader) {
  const absl::optional<int64_t> ratio = reader.Scaled(kRatioDecimals, 0);
  if (ratio && *ratio > kMaxRatioMillionths) {
    reader.Expected("a number from 0 to 1000, such as 0.2");
    return absl::nullopt;
  }
  return ratio;
}

absl::optional<int64_t> ReadCount(const JsonReader& reader) {
  return reader.Integer(0, kMaxRetries);
}

absl::optional<absl::Duration> ReadTtl(const JsonReader& reader) {
  constexpr absl::Duration kMin = absl::Milliseconds(10);
  constexpr absl::Duration kMax = absl::Hours(24);
  const absl::optional<absl::Duration> ttl = reader.Duration(kMin);
  if (ttl && *ttl > kMax) {
    reader.Expected("a duration from \"0.01s\" to \"86400s\"");
    return absl::nullopt;
  }
  return ttl;
}

}  // namespace

std::shared_ptr<RetryBudget> ReadRetryBudget(const JsonReader& reader) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object) return nullptr;
  WindowedRetryBudget::Parameters window;
  const bool has_ttl = ReadInto(object->Optional("ttl"), &window.ttl, ReadTtl);
  const bool has_ratio =
      ReadInto(object->Optional("ratio"), &window.ratio_millionths, ReadRatio);
  const bool has_floor = ReadInto(object->Optional("minRetriesPerSecond"),
                                  &window.min_retries_per_second, ReadCount);
  const absl::optional<JsonReader> in_flight = object->Optional("inFlight");
  object->ReportUnknown(UnknownKeys::kError);
  if (!in_flight) return std::make_shared<WindowedRetryBudget>(window);

  if (has_ttl || has_ratio || has_floor) {
    reader.Error(
        "mixes two forms; must have either ttl, ratio and minRetriesPerSecond, "
        "or inFlight");
  }
  absl::optional<JsonObject> inner = in_flight->Object();
  if (!inner) return nullptr;
  InFlightRetryBudget::Parameters flight;
  ReadInto(inner->Optional("ratio"), &flight.ratio_millionths, ReadRatio);
  ReadInto(inner->Optional("minRetries"), &flight.min_retries, ReadCount);
  inner->ReportUnknown(UnknownKeys::kError);
  return std::make_shared<InFlightRetryBudget>(flight);
}

}  // namespace redial
