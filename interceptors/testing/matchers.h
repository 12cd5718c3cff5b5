// Matchers for GoogleMock: statuses and call reports.
//
// StatusIs, IsOk and IsOkAndHolds take absl::Status, absl::StatusOr and
// anything with error_code() and error_message(), as grpc::Status, which this
// header does not include. Codes may be of any of these types.
//
//   EXPECT_THAT(stub->Get(...), StatusIs(grpc::StatusCode::NOT_FOUND));
//   EXPECT_THAT(ServiceConfig::FromJson(text), IsOk());
//   EXPECT_THAT(report, AllOf(Attempts(3), StoppedBecause(kSuccess)));
//   EXPECT_THAT(report, Waits(absl::Milliseconds(40), Ge(absl::Seconds(1))));
#ifndef REDIAL_TESTING_MATCHERS_H_
#define REDIAL_TESTING_MATCHERS_H_

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "redial/core/call_report.h"

namespace redial {
namespace testing_internal {

struct PlainStatus {
  int code;
  std::string message;
};

inline PlainStatus Plain(const absl::Status& status) {
  return {static_cast<int>(status.code()), std::string(status.message())};
}
template <typename T>
PlainStatus Plain(const absl::StatusOr<T>& result) {
  return Plain(result.status());
}
template <typename T, typename = decltype(std::declval<T>().error_code())>
PlainStatus Plain(const T& status) {
  return {static_cast<int>(status.error_code()),
          std::string(status.error_message())};
}

inline std::string Describe(const PlainStatus& status) {
  return absl::StrCat(CodeName(static_cast<absl::StatusCode>(status.code)),
                      status.message.empty() ? "" : ": ", status.message);
}

class StatusMatcher {
 public:
  StatusMatcher(int code, ::testing::Matcher<const std::string&> message)
      : code_(code), message_(std::move(message)) {}

  template <typename T>
  bool MatchAndExplain(const T& value,
                       ::testing::MatchResultListener* listener) const {
    const PlainStatus status = Plain(value);
    *listener << "which is " << Describe(status);
    return status.code == code_ && message_.Matches(status.message);
  }
  void DescribeTo(std::ostream* os) const {
    *os << "is " << CodeName(static_cast<absl::StatusCode>(code_))
        << " with a message that ";
    message_.DescribeTo(os);
  }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "is not " << CodeName(static_cast<absl::StatusCode>(code_))
        << " with a message that ";
    message_.DescribeTo(os);
  }

 private:
  const int code_;
  const ::testing::Matcher<const std::string&> message_;
};

class OkMatcher {
 public:
  template <typename T>
  bool MatchAndExplain(const T& value,
                       ::testing::MatchResultListener* listener) const {
    const PlainStatus status = Plain(value);
    if (status.code != 0) *listener << "which is " << Describe(status);
    return status.code == 0;
  }
  void DescribeTo(std::ostream* os) const { *os << "is OK"; }
  void DescribeNegationTo(std::ostream* os) const { *os << "is not OK"; }
};

template <typename Inner>
class OkAndHoldsMatcher {
 public:
  explicit OkAndHoldsMatcher(Inner inner) : inner_(std::move(inner)) {}

  template <typename T>
  operator ::testing::Matcher<T>() const {  // NOLINT: a matcher converts
    return ::testing::MakeMatcher(new Typed<T>(inner_));
  }

 private:
  template <typename T>
  class Typed final : public ::testing::MatcherInterface<T> {
   public:
    using Value = typename std::decay_t<T>::value_type;

    explicit Typed(const Inner& inner)
        : inner_(::testing::SafeMatcherCast<const Value&>(inner)) {}

    bool MatchAndExplain(
        T result, ::testing::MatchResultListener* listener) const override {
      if (!result.ok()) {
        *listener << "which is " << Describe(Plain(result));
        return false;
      }
      return inner_.MatchAndExplain(*result, listener);
    }
    void DescribeTo(std::ostream* os) const override {
      *os << "is OK and holds a value that ";
      inner_.DescribeTo(os);
    }

   private:
    const ::testing::Matcher<const Value&> inner_;
  };

  const Inner inner_;
};

}  // namespace testing_internal

// The status has this code (absl::StatusCode or grpc::StatusCode), and its
// message matches.
template <typename Code>
::testing::PolymorphicMatcher<testing_internal::StatusMatcher> StatusIs(
    Code code, ::testing::Matcher<const std::string&> message = ::testing::_) {
  return ::testing::MakePolymorphicMatcher(testing_internal::StatusMatcher(
      static_cast<int>(code), std::move(message)));
}

inline ::testing::PolymorphicMatcher<testing_internal::OkMatcher> IsOk() {
  return ::testing::MakePolymorphicMatcher(testing_internal::OkMatcher());
}

// An absl::StatusOr that is OK and whose value matches.
template <typename Inner>
testing_internal::OkAndHoldsMatcher<std::decay_t<Inner>> IsOkAndHolds(
    Inner&& inner) {
  return testing_internal::OkAndHoldsMatcher<std::decay_t<Inner>>(
      std::forward<Inner>(inner));
}

// A CallReport with so many attempts: a number or a matcher.
MATCHER_P(Attempts, count, "made a number of attempts that is as asked") {
  *result_listener << "which is " << arg.Summary();
  return ::testing::ExplainMatchResult(
      count, static_cast<int>(arg.attempts.size()), result_listener);
}

// A CallReport of a call that ended for this reason.
MATCHER_P(StoppedBecause, reason,
          absl::StrCat(negation ? "did not stop" : "stopped", " because of ",
                       StopReasonName(reason))) {
  *result_listener << "which is " << arg.Summary();
  return arg.stop_reason == reason;
}

// A CallReport whose waits before its second, third, ... attempt match one by
// one: durations or matchers of them.
template <typename... Each>
auto Waits(Each... each) {
  return ::testing::ResultOf(
      "the waits before the retries",
      [](const CallReport& report) {
        std::vector<absl::Duration> waits;
        for (const AttemptRecord& attempt : report.attempts) {
          if (attempt.kind != AttemptKind::kFirst) {
            waits.push_back(attempt.wait);
          }
        }
        return waits;
      },
      ::testing::ElementsAre(each...));
}

}  // namespace redial

#endif  // REDIAL_TESTING_MATCHERS_H_
