#include "redial/testing/matchers.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace redial {
namespace {

using ::testing::_;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Looks like grpc::Status, without gRPC.
enum PeerCode { kPeerOk = 0, kPeerUnavailable = 14 };
struct PeerStatus {
  PeerCode error_code() const { return code; }
  std::string error_message() const { return message; }
  PeerCode code = kPeerOk;
  std::string message;
};

template <typename T, typename M>
std::string Explain(const T& value, const M& matcher) {
  ::testing::StringMatchResultListener listener;
  ::testing::SafeMatcherCast<const T&>(matcher).MatchAndExplain(value,
                                                                &listener);
  return listener.str();
}

TEST(StatusIsTest, TakesEveryKindOfStatus) {
  const absl::Status unavailable = absl::UnavailableError("down for lunch");
  EXPECT_THAT(unavailable, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(unavailable, StatusIs(kPeerUnavailable));
  EXPECT_THAT(unavailable,
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("lunch")));
  EXPECT_THAT(unavailable,
              Not(StatusIs(absl::StatusCode::kUnavailable, "other")));
  EXPECT_THAT(unavailable, Not(StatusIs(absl::StatusCode::kInternal)));
  EXPECT_THAT(absl::StatusOr<int>(unavailable),
              StatusIs(absl::StatusCode::kUnavailable, StartsWith("down")));
  EXPECT_THAT((PeerStatus{kPeerUnavailable, "x"}),
              StatusIs(absl::StatusCode::kUnavailable, "x"));
  EXPECT_EQ(Explain(unavailable, StatusIs(absl::StatusCode::kInternal)),
            "which is UNAVAILABLE: down for lunch");
}

TEST(IsOkTest, TakesEveryKindOfStatus) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(3), IsOk());
  EXPECT_THAT(PeerStatus(), IsOk());
  EXPECT_THAT(absl::InternalError("x"), Not(IsOk()));
  EXPECT_THAT((PeerStatus{kPeerUnavailable, ""}), Not(IsOk()));
}

TEST(IsOkAndHoldsTest, MatchesTheValue) {
  EXPECT_THAT(absl::StatusOr<int>(3), IsOkAndHolds(3));
  EXPECT_THAT(absl::StatusOr<int>(3), IsOkAndHolds(Gt(2)));
  EXPECT_THAT(absl::StatusOr<int>(3), Not(IsOkAndHolds(4)));
  EXPECT_THAT(absl::StatusOr<std::string>("abc"), IsOkAndHolds(HasSubstr("b")));
  EXPECT_THAT(absl::StatusOr<int>(absl::InternalError("x")),
              Not(IsOkAndHolds(_)));
}

TEST(CallReportMatchersTest, ReadTheReport) {
  CallReport report;
  report.stop_reason = StopReason::kAttemptsExhausted;
  report.attempts.resize(3);
  report.attempts[1].kind = AttemptKind::kRetry;
  report.attempts[1].wait = absl::Milliseconds(40);
  report.attempts[2].kind = AttemptKind::kRetry;
  report.attempts[2].wait = absl::Seconds(2);
  EXPECT_THAT(report, Attempts(3));
  EXPECT_THAT(report, Attempts(Gt(2)));
  EXPECT_THAT(report, Not(Attempts(2)));
  EXPECT_THAT(report, StoppedBecause(StopReason::kAttemptsExhausted));
  EXPECT_THAT(report, Not(StoppedBecause(StopReason::kSuccess)));
  EXPECT_THAT(report, Waits(absl::Milliseconds(40), Gt(absl::Seconds(1))));
  EXPECT_THAT(report, Not(Waits(absl::Milliseconds(40))));
  EXPECT_THAT(CallReport(), Waits());
}

}  // namespace
}  // namespace redial
