// A server call that ends, while a call below it is in flight or waits.
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/deadline_scope.h"
#include "redial/grpc/private_access.h"
#include "redial/grpc/scoped_call_options.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/middle_server.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

::testing::Matcher<const grpc::Status&> IsEndOfServerCall(
    const ::testing::Matcher<const std::string&>& message) {
  return AnyOf(StatusIs(grpc::StatusCode::DEADLINE_EXCEEDED, message),
               StatusIs(grpc::StatusCode::CANCELLED, message));
}

std::shared_ptr<grpc::Channel> ChannelTo(
    const ScriptedGrpcServer& server, DriverMode mode,
    std::shared_ptr<const PolicyTable> table) {
  return CreateChannel(server.target(), grpc::InsecureChannelCredentials(),
                       std::move(table), TestChannelOptions(mode));
}

UnarySpec WithoutDeadline() {
  UnarySpec spec;
  spec.deadline = absl::InfiniteDuration();
  return spec;
}

// A call whose context was made from the server's, with no scope.
UnaryResult CallFromServerContext(const std::shared_ptr<grpc::Channel>& channel,
                                  grpc::ServerContext& server_context) {
  const auto stub = v1::Echo::NewStub(channel);
  const auto context = grpc::ClientContext::FromServerContext(server_context);
  UnaryResult result;
  const ScopedCallOptions scoped(*context, &result.report);
  const absl::Time start = absl::Now();
  result.status =
      stub->Unary(context.get(), v1::EchoRequest(), &result.response);
  result.elapsed = absl::Now() - start;
  return result;
}

enum class Way { kScope, kServerContext };

// Makes the call downwards in one of both ways.
MiddleServer::Handle Inheriting(Way way,
                                std::shared_ptr<grpc::Channel> channel) {
  return [way, channel](grpc::ServerContext& context) {
    if (way == Way::kServerContext) {
      return CallFromServerContext(channel, context);
    }
    const DeadlineScope scope(context);
    return CallUnary(channel, UnaryApi::kSync, WithoutDeadline());
  };
}

constexpr DriverMode kModes[] = {DriverMode::kNativeFirst,
                                 DriverMode::kAlwaysOwned};
constexpr Way kWays[] = {Way::kScope, Way::kServerContext};

std::string Trace(Way way, DriverMode mode) {
  return std::string(way == Way::kScope ? "scope" : "server context") +
         (mode == DriverMode::kNativeFirst ? " native" : " owned");
}

TEST(ServerCallEndTest, CancelAboveEndsAnAttemptInFlight) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not inherited in this build";
  for (const DriverMode mode : kModes) {
    for (const Way way : kWays) {
      for (const bool with_policy : {true, false}) {
        for (const int before : {0, 1}) {
          if (!with_policy && before > 0) continue;
          SCOPED_TRACE(Trace(way, mode) + (with_policy ? "" : " no policy") +
                       (before > 0 ? " retry" : " first"));
          std::vector<Answer> answers(before, Unavailable());
          answers.push_back(Answer::Hang());
          ScriptedGrpcServer server(answers);
          EchoPolicy policy;
          // Whether CANCELLED is to be retried or not.
          if (before == 0) policy.codes.Add(absl::StatusCode::kCancelled);
          MiddleServer middle(Inheriting(
              way, ChannelTo(server, mode,
                             with_policy ? MakePolicyTable(policy)
                                         : std::make_shared<PolicyTable>())));
          const UnaryResult result =
              middle.Call(absl::Seconds(20), [&](grpc::ClientContext& context) {
                EXPECT_TRUE(server.WaitForRequests(before + 1));
                context.TryCancel();
              });
          EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::CANCELLED));
          EXPECT_THAT(result.elapsed, Lt(absl::Seconds(10)));
          EXPECT_THAT(result.report,
                      AllOf(Attempts(before + 1),
                            StoppedBecause(StopReason::kCancelled)));
          EXPECT_TRUE(server.WaitUntilIdle());
          EXPECT_TRUE(server.Requests().back().cancelled);
        }
      }
    }
  }
}

TEST(ServerCallEndTest, CancelAboveEndsAWait) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not inherited in this build";
  for (const DriverMode mode : kModes) {
    for (const Way way : kWays) {
      SCOPED_TRACE(Trace(way, mode));
      ScriptedGrpcServer server({Unavailable()});
      EchoPolicy policy;
      policy.backoff = absl::Seconds(15);
      MiddleServer middle(
          Inheriting(way, ChannelTo(server, mode, MakePolicyTable(policy))));
      const UnaryResult result =
          middle.Call(absl::Seconds(60), [&](grpc::ClientContext& context) {
            EXPECT_TRUE(server.WaitForRequests(1));
            EXPECT_TRUE(server.WaitUntilIdle());
            context.TryCancel();
          });
      EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::CANCELLED));
      EXPECT_THAT(result.elapsed, Lt(absl::Seconds(8)));
      EXPECT_THAT(result.report,
                  AllOf(Attempts(1), StoppedBecause(StopReason::kCancelled)));
      EXPECT_THAT(server.Requests(), SizeIs(1));
    }
  }
}

TEST(ServerCallEndTest, CancelAboveIsNotInheritedWhereTheScopeSaysSo) {
  for (const DriverMode mode : kModes) {
    ScriptedGrpcServer server({Answer::Ok().After(absl::Milliseconds(300))});
    const auto channel = ChannelTo(server, mode, MakePolicyTable({}));
    MiddleServer middle([&](grpc::ServerContext& context) {
      DeadlineScope::Options options;
      options.inherit_cancellation = false;
      const DeadlineScope scope(context, options);
      return CallUnary(channel, UnaryApi::kSync, WithoutDeadline());
    });
    const UnaryResult result =
        middle.Call(absl::Seconds(20), [&](grpc::ClientContext& context) {
          EXPECT_TRUE(server.WaitForRequests(1));
          context.TryCancel();
        });
    EXPECT_THAT(result.status, IsOk());
  }
}

TEST(ServerCallEndTest, TheDeadlineAboveEndsAWaitThatDidNotKnowIt) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not inherited in this build";
  for (const DriverMode mode : kModes) {
    ScriptedGrpcServer server({Unavailable()});
    EchoPolicy policy;
    policy.backoff = absl::Seconds(15);
    MiddleServer middle(Inheriting(
        Way::kServerContext, ChannelTo(server, mode, MakePolicyTable(policy))));
    const UnaryResult result = middle.Call(absl::Milliseconds(400));
    // The client above gives up at its deadline, too: its cancel and the
    // deadline itself race.
    EXPECT_THAT(result.status, IsEndOfServerCall(HasSubstr("not yet")));
    EXPECT_THAT(result.elapsed, Lt(absl::Seconds(5)));
    EXPECT_THAT(
        result.report,
        AllOf(Attempts(1), AnyOf(StoppedBecause(StopReason::kDeadline),
                                 StoppedBecause(StopReason::kCancelled))));
  }
}

TEST(ServerCallEndTest, AWaitThatTheInheritedDeadlineWouldCutIsNotBegun) {
  for (const DriverMode mode : kModes) {
    ScriptedGrpcServer server({Unavailable()});
    EchoPolicy policy;
    policy.backoff = absl::Seconds(15);
    MiddleServer middle(Inheriting(
        Way::kScope, ChannelTo(server, mode, MakePolicyTable(policy))));
    const UnaryResult result = middle.Call(absl::Seconds(10));
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
    EXPECT_THAT(result.elapsed, Lt(absl::Seconds(5)));
    EXPECT_THAT(result.report, StoppedBecause(StopReason::kDeadline));
  }
}

TEST(ServerCallEndTest, TheInheritedDeadlineEndsAnAttemptInFlight) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not inherited in this build";
  for (const DriverMode mode : kModes) {
    for (const Way way : kWays) {
      SCOPED_TRACE(Trace(way, mode));
      ScriptedGrpcServer server({Answer::Hang()});
      MiddleServer middle(
          Inheriting(way, ChannelTo(server, mode, MakePolicyTable({}))));
      const UnaryResult result = middle.Call(absl::Milliseconds(300));
      EXPECT_THAT(result.status, IsEndOfServerCall(_));
      EXPECT_THAT(result.elapsed, Lt(absl::Seconds(5)));
    }
  }
}

}  // namespace
}  // namespace redial
