// Step 12 of the decision: where the wait comes from, and what becomes of the
// backoff.
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "redial/core/attempt_ledger.h"
#include "redial/core/decision.h"
#include "redial/core/outcome.h"
#include "redial/core/policy.h"
#include "redial/testing/fixed_random.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using Mode = PushbackPolicy::Mode;

// The third failure of a call: its backoff is 400 ms.
Decision DecideThird(const RetryPolicy& policy, const Pushback& pushback) {
  Outcome outcome = Failure(absl::StatusCode::kUnavailable);
  outcome.pushback = pushback;
  CallFacts facts;
  facts.now = Instant::FromEpoch(absl::Seconds(9));
  facts.attempts_made = 3;
  facts.backoff_retries = 2;
  facts.previous_backoff = Ms(200);
  FixedRandom half(0.5);
  return Decide(policy, outcome, Assess(&policy, outcome, facts), facts,
                AttemptLedger(), /*throttle_allows=*/true, half);
}

struct Row {
  std::string name;
  Pushback pushback;
  // None: the call gives up.
  absl::optional<absl::Duration> wait;
  WaitSource from = WaitSource::kNone;
  int64_t retries_after = 0;
};

void Expect(const RetryPolicy& policy, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Decision decision = DecideThird(policy, row.pushback);
    ASSERT_EQ(decision.retry, row.wait.has_value());
    if (!row.wait.has_value()) {
      EXPECT_EQ(decision.stop, StopReason::kPushbackTooLong);
      continue;
    }
    EXPECT_EQ(decision.wait, *row.wait);
    EXPECT_EQ(WaitSourceName(decision.wait_from), WaitSourceName(row.from));
    EXPECT_EQ(decision.backoff_retries, row.retries_after);
  }
}

constexpr WaitSource kBackoff = WaitSource::kBackoff;
constexpr WaitSource kPushback = WaitSource::kPushback;
constexpr WaitSource kRetryInfo = WaitSource::kRetryInfo;
constexpr WaitSource kRetryAfter = WaitSource::kRetryAfter;

TEST(DecisionWaitTest, ByDefaultPushbackIsExactAndTheOthersAreALowerBound) {
  Expect(*ListedPolicy()->retry,
         {
             {"nothing asked", Pushback(), Ms(400), kBackoff, 3},
             {"pushback of zero", Asked(kPushback, Ms(0)), Ms(0), kPushback},
             {"pushback below the backoff", Asked(kPushback, Ms(30)), Ms(30),
              kPushback},
             {"pushback above the cap is not capped",
              Asked(kPushback, absl::Minutes(7)), absl::Minutes(7), kPushback},
             {"RetryInfo of zero", Asked(kRetryInfo, Ms(0)), Ms(400), kBackoff},
             {"RetryInfo below the backoff", Asked(kRetryInfo, Ms(30)), Ms(400),
              kBackoff},
             {"RetryInfo above it", Asked(kRetryInfo, Ms(450)), Ms(450),
              kRetryInfo},
             {"RetryInfo at the cap", Asked(kRetryInfo, absl::Minutes(5)),
              absl::Minutes(5), kRetryInfo},
             {"RetryInfo beyond the cap",
              Asked(kRetryInfo, absl::Minutes(5) + absl::Nanoseconds(1)),
              absl::nullopt},
             {"Retry-After below the backoff", Asked(kRetryAfter, Ms(30)),
              Ms(400), kBackoff},
             {"Retry-After above it", Asked(kRetryAfter, absl::Seconds(1)),
              absl::Seconds(1), kRetryAfter},
             {"Retry-After of days", Asked(kRetryAfter, absl::Hours(77)),
              absl::nullopt},
             {"Retry-After of ever",
              Asked(kRetryAfter, absl::InfiniteDuration()), absl::nullopt},
         });
}

TEST(DecisionWaitTest, EachSourceHasAModeOfItsOwn) {
  RetryPolicy policy = *ListedPolicy()->retry;
  policy.pushback.grpc_pushback = Mode::kAtLeast;
  policy.pushback.retry_info = Mode::kExact;
  policy.pushback.retry_after = Mode::kIgnore;
  Expect(
      policy,
      {
          {"pushback below the backoff", Asked(kPushback, Ms(30)), Ms(400),
           kBackoff},
          {"pushback above it", Asked(kPushback, Ms(500)), Ms(500), kPushback},
          {"RetryInfo of zero", Asked(kRetryInfo, Ms(0)), Ms(0), kRetryInfo},
          {"an ignored delay leaves the backoff its course",
           Asked(kRetryAfter, absl::Seconds(7)), Ms(400), kBackoff, 3},
          {"an ignored delay has no cap", Asked(kRetryAfter, absl::Hours(1)),
           Ms(400), kBackoff, 3},
      });
}

TEST(DecisionWaitTest, ASettingClampsInPlaceOfGivingUp) {
  RetryPolicy policy = *ListedPolicy()->retry;
  policy.pushback.cap = Ms(300);
  policy.pushback.clamp = true;
  policy.pushback.cap_grpc_pushback = true;
  Expect(
      policy,
      {
          {"pushback", Asked(kPushback, absl::Seconds(9)), Ms(300), kPushback},
          {"RetryInfo, when the backoff is longer still",
           Asked(kRetryInfo, absl::Seconds(9)), Ms(400), kBackoff},
          {"Retry-After of ever", Asked(kRetryAfter, absl::InfiniteDuration()),
           Ms(400), kBackoff},
      });
  policy.pushback.clamp = false;
  Expect(policy, {{"pushback may be capped", Asked(kPushback, absl::Seconds(9)),
                   absl::nullopt}});
}

TEST(DecisionWaitTest, JitterSpreadsTheBackoffAndNeverThePushback) {
  RetryPolicy policy = *ListedPolicy()->retry;
  for (const double fraction : {0.0, 0.25, 0.999}) {
    SCOPED_TRACE(fraction);
    Outcome outcome = Failure(absl::StatusCode::kUnavailable);
    CallFacts facts;
    FixedRandom random(fraction);
    const auto decide = [&] {
      return Decide(policy, outcome, Assess(&policy, outcome, facts), facts,
                    AttemptLedger(), true, random);
    };
    const absl::Duration expected = Ms(80 + 40 * fraction);
    EXPECT_LT(absl::AbsDuration(decide().wait - expected),
              absl::Microseconds(1));
    outcome.pushback = Asked(kPushback, Ms(70));
    EXPECT_EQ(decide().wait, Ms(70));
  }
}

}  // namespace
}  // namespace redial
