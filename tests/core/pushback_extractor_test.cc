// A delay that only the service's owner knows how to find (features 2.3).
#include <memory>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/retry_machine.h"
#include "redial/testing/fixed_random.h"
#include "tests/core/machine_driver.h"

namespace redial {
namespace {

using ::testing::ElementsAre;

constexpr absl::StatusCode kUnavailable = absl::StatusCode::kUnavailable;

class PushbackExtractorTest : public ::testing::Test {
 protected:
  // Finds `found` in every failed attempt.
  CallSetup Finding(absl::optional<absl::Duration> found) {
    auto policy = ListedPolicy();
    policy->retry->pushback.extractor = [this, found](const Outcome&) {
      ++asked_;
      return found;
    };
    CallSetup setup;
    setup.policy = policy;
    setup.random = &half_;
    return setup;
  }

  FixedRandom half_{0.5};
  int asked_ = 0;
};

TEST_F(PushbackExtractorTest, IsTakenAsRetryAfterIs) {
  MachineDriver call(Finding(Ms(700)));
  call.Start();
  EXPECT_THAT(call.Done(1, Failure(kUnavailable)),
              ElementsAre("wait 700ms RETRY_AFTER"));
  EXPECT_EQ(call.Report().retry_after, Ms(700));
}

TEST_F(PushbackExtractorTest, TheCapHoldsForItToo) {
  MachineDriver call(Finding(absl::Hours(72)));
  call.Start();
  EXPECT_THAT(call.Done(1, Failure(kUnavailable)),
              ElementsAre("finish 1 PUSHBACK_TOO_LONG"));
}

TEST_F(PushbackExtractorTest, FindingNothingOrNonsenseLeavesTheBackoff) {
  for (const absl::optional<absl::Duration> found :
       {absl::optional<absl::Duration>(), absl::make_optional(-Ms(1))}) {
    MachineDriver call(Finding(found));
    call.Start();
    EXPECT_THAT(call.Done(1, Failure(kUnavailable)),
                ElementsAre("wait 100ms BACKOFF"));
  }
}

TEST_F(PushbackExtractorTest, IsNotAskedWhereTheServerSpokeOrTheCallSucceeded) {
  Outcome outcome = Failure(kUnavailable);
  outcome.pushback = Asked(WaitSource::kPushback, Ms(30));
  MachineDriver call(Finding(Ms(700)));
  call.Start();
  EXPECT_THAT(call.Done(1, outcome), ElementsAre("wait 30ms PUSHBACK"));
  call.Advance(Ms(30));
  call.Wake();
  EXPECT_THAT(call.Done(2, Outcome()), ElementsAre("finish 2 SUCCESS"));
  EXPECT_EQ(asked_, 0);
}

}  // namespace
}  // namespace redial
