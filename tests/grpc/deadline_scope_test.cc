// Calls made while a server call is handled: a real server in the middle.
#include "redial/grpc/deadline_scope.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/middle_server.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

// What the wire's rounding adds.
constexpr absl::Duration kRounding = absl::Milliseconds(100);

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

constexpr DriverMode kModes[] = {DriverMode::kNativeFirst,
                                 DriverMode::kAlwaysOwned};

TEST(DeadlineScopeTest, TheInheritedDeadlineIsSeenBelowOnEachAttempt) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
    const auto channel = ChannelTo(server, style.mode, MakePolicyTable({}));
    MiddleServer middle([&](grpc::ServerContext& context) {
      const DeadlineScope scope(context);
      return CallUnary(channel, style.api, WithoutDeadline());
    });
    const UnaryResult result = middle.Call(absl::Seconds(3));
    EXPECT_THAT(result.status, IsOk());
    EXPECT_EQ(result.response.text(), "hello");
    const auto requests = server.Requests();
    ASSERT_THAT(requests, SizeIs(2));
    for (const auto& request : requests) {
      EXPECT_THAT(request.remaining, AllOf(Gt(absl::Seconds(1)),
                                           Le(absl::Seconds(3) + kRounding)));
    }
  }
}

struct ScopeCase {
  const char* name;
  std::function<UnaryResult(grpc::ServerContext&,
                            const std::function<UnaryResult(UnarySpec)>&)>
      handle;
  EchoPolicy policy;
  // What the server below sees, of the 10 s that the call from above has.
  absl::Duration at_most;
  absl::Duration at_least;
};

std::vector<ScopeCase> ScopeCases() {
  const absl::Duration kWhole = absl::Seconds(10);
  const absl::Duration kInfinite = absl::InfiniteDuration();
  EchoPolicy reserving;
  reserving.adjust = [](MethodPolicy& method) {
    method.deadline_reserve = absl::Seconds(4);
  };
  EchoPolicy deaf;
  deaf.adjust = [](MethodPolicy& method) { method.inherit_deadline = false; };
  using Call = std::function<UnaryResult(UnarySpec)>;
  std::vector<ScopeCase> cases;
  cases.push_back({"no scope",
                   [](grpc::ServerContext&, const Call& call) {
                     return call(WithoutDeadline());
                   },
                   {},
                   kInfinite,
                   kInfinite});
  cases.push_back({"reserve",
                   [](grpc::ServerContext& context, const Call& call) {
                     DeadlineScope::Options options;
                     options.reserve = absl::Seconds(4);
                     const DeadlineScope scope(context, options);
                     return call(WithoutDeadline());
                   },
                   {},
                   absl::Seconds(6),
                   absl::Seconds(3)});
  cases.push_back({"reserve of the policy",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     return call(WithoutDeadline());
                   },
                   reserving, absl::Seconds(6), absl::Seconds(3)});
  cases.push_back({"the call's own, earlier",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     UnarySpec spec;
                     spec.deadline = absl::Seconds(5);
                     return call(spec);
                   },
                   {},
                   absl::Seconds(5),
                   absl::Seconds(2)});
  cases.push_back({"the call's own, later",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     UnarySpec spec;
                     spec.deadline = absl::Seconds(60);
                     return call(spec);
                   },
                   {},
                   kWhole,
                   absl::Seconds(7)});
  cases.push_back({"a plain deadline",
                   [](grpc::ServerContext&, const Call& call) {
                     const DeadlineScope scope(absl::Seconds(5));
                     return call(WithoutDeadline());
                   },
                   {},
                   absl::Seconds(5),
                   absl::Seconds(2)});
  cases.push_back({"a plain deadline of the calendar",
                   [](grpc::ServerContext&, const Call& call) {
                     const DeadlineScope scope(
                         std::chrono::system_clock::now() +
                         std::chrono::seconds(5));
                     return call(WithoutDeadline());
                   },
                   {},
                   absl::Seconds(5),
                   absl::Seconds(2)});
  cases.push_back({"nested, the inner earlier",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     const DeadlineScope inner(absl::Seconds(5));
                     return call(WithoutDeadline());
                   },
                   {},
                   absl::Seconds(5),
                   absl::Seconds(2)});
  cases.push_back({"nested, the outer earlier",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     const DeadlineScope inner(absl::Seconds(60));
                     return call(WithoutDeadline());
                   },
                   {},
                   kWhole,
                   absl::Seconds(7)});
  cases.push_back({"after the inner scope",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     { const DeadlineScope inner(absl::Seconds(2)); }
                     return call(WithoutDeadline());
                   },
                   {},
                   kWhole,
                   absl::Seconds(7)});
  cases.push_back({"opt-out",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     const DeadlineOptOut out;
                     return call(WithoutDeadline());
                   },
                   {},
                   kInfinite,
                   kInfinite});
  cases.push_back({"opt-out by the call",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     UnarySpec spec = WithoutDeadline();
                     spec.options.set_inherit_deadline(false);
                     return call(spec);
                   },
                   {},
                   kInfinite,
                   kInfinite});
  cases.push_back({"opt-out by the policy",
                   [](grpc::ServerContext& context, const Call& call) {
                     const DeadlineScope scope(context);
                     return call(WithoutDeadline());
                   },
                   deaf, kInfinite, kInfinite});
  return cases;
}

TEST(DeadlineScopeTest, TheEarliestDeadlineHolds) {
  for (const ScopeCase& c : ScopeCases()) {
    for (const DriverMode mode : kModes) {
      SCOPED_TRACE(std::string(c.name) +
                   (mode == DriverMode::kNativeFirst ? " native" : " owned"));
      ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
      const auto channel = ChannelTo(server, mode, MakePolicyTable(c.policy));
      MiddleServer middle([&](grpc::ServerContext& context) {
        return c.handle(context, [&](UnarySpec spec) {
          return CallUnary(channel, UnaryApi::kSync, spec);
        });
      });
      EXPECT_THAT(middle.Call(absl::Seconds(10)).status, IsOk());
      const auto requests = server.Requests();
      ASSERT_THAT(requests, SizeIs(2));
      for (const auto& request : requests) {
        EXPECT_LE(request.remaining, c.at_most + kRounding);
        EXPECT_GE(request.remaining, c.at_least);
      }
    }
  }
}

TEST(DeadlineScopeTest, AReserveThatLeavesNothingSendsNothing) {
  for (const DriverMode mode : kModes) {
    ScriptedGrpcServer server({Answer::Ok()});
    const auto channel = ChannelTo(server, mode, MakePolicyTable({}));
    MiddleServer middle([&](grpc::ServerContext& context) {
      DeadlineScope::Options options;
      options.reserve = absl::InfiniteDuration();
      const DeadlineScope scope(context, options);
      return CallUnary(channel, UnaryApi::kSync, WithoutDeadline());
    });
    EXPECT_THAT(middle.Call(absl::Seconds(5)).status,
                StatusIs(grpc::StatusCode::DEADLINE_EXCEEDED,
                         HasSubstr("no attempt was made")));
    EXPECT_THAT(server.Requests(), IsEmpty());
  }
}

TEST(DeadlineScopeTest, WorksWithoutAnyPolicy) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Unavailable()});
    const auto channel =
        ChannelTo(server, style.mode, std::make_shared<PolicyTable>());
    MiddleServer middle([&](grpc::ServerContext& context) {
      const DeadlineScope scope(context);
      return CallUnary(channel, style.api, WithoutDeadline());
    });
    const UnaryResult result = middle.Call(absl::Seconds(3));
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
    const auto requests = server.Requests();
    ASSERT_THAT(requests, SizeIs(1));
    EXPECT_LE(requests[0].remaining, absl::Seconds(3) + kRounding);
  }
}

TEST(DeadlineScopeTest, CallsOfOtherThreadsInheritNothing) {
  ScriptedGrpcServer server({Answer::Ok()});
  const auto channel =
      ChannelTo(server, DriverMode::kNativeFirst, MakePolicyTable({}));
  const DeadlineScope scope(absl::Seconds(5));
  UnaryResult result;
  std::thread([&] {
    result = CallUnary(channel, UnaryApi::kSync, WithoutDeadline());
  }).join();
  EXPECT_THAT(result.status, IsOk());
  EXPECT_EQ(server.Requests().at(0).remaining, absl::InfiniteDuration());
}

}  // namespace
}  // namespace redial
