// Calls made while a server call is handled: a real server in the middle.
#include "redial/grpc/deadline_scope.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/private_access.h"
#include "redial/grpc/scoped_call_options.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/echo_backend.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
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

// What the wire's rounding adds.
constexpr absl::Duration kRounding = absl::Milliseconds(100);

// A server whose handler makes a call further down.
class Middle {
 public:
  using Handle = std::function<UnaryResult(grpc::ServerContext&)>;

  explicit Middle(Handle handle)
      : handle_(std::move(handle)),
        backend_([this](const EchoArrival&, grpc::ServerContext& context,
                        const v1::EchoRequest&, v1::EchoResponse*) {
          UnaryResult result = handle_(context);
          const grpc::Status status = result.status;
          result_.set_value(std::move(result));
          return status;
        }) {}

  // One call to the middle; `meanwhile` runs beside it. Returns what the
  // handler got from below.
  UnaryResult Call(absl::Duration deadline,
                   std::function<void(grpc::ClientContext&)> meanwhile = {}) {
    const auto stub = v1::Echo::NewStub(grpc::CreateChannel(
        backend_.target(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    if (deadline < absl::InfiniteDuration()) {
      context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
    }
    std::thread beside([&] {
      if (meanwhile) meanwhile(context);
    });
    v1::EchoResponse response;
    stub->Unary(&context, v1::EchoRequest(), &response);
    beside.join();
    return result_.get_future().get();
  }

 private:
  const Handle handle_;
  std::promise<UnaryResult> result_;
  EchoBackend backend_;  // the last: its handler uses the others
};

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
Middle::Handle Inheriting(Way way, std::shared_ptr<grpc::Channel> channel) {
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

TEST(DeadlineScopeTest, TheInheritedDeadlineIsSeenBelowOnEachAttempt) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
    const auto channel = ChannelTo(server, style.mode, MakePolicyTable({}));
    Middle middle([&](grpc::ServerContext& context) {
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
      SCOPED_TRACE(std::string(c.name) + Trace(Way::kScope, mode));
      ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
      const auto channel = ChannelTo(server, mode, MakePolicyTable(c.policy));
      Middle middle([&](grpc::ServerContext& context) {
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
    Middle middle([&](grpc::ServerContext& context) {
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
    Middle middle([&](grpc::ServerContext& context) {
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

TEST(DeadlineScopeTest, CancelAboveEndsAnAttemptInFlight) {
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
          Middle middle(Inheriting(
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

TEST(DeadlineScopeTest, CancelAboveEndsAWait) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not inherited in this build";
  for (const DriverMode mode : kModes) {
    for (const Way way : kWays) {
      SCOPED_TRACE(Trace(way, mode));
      ScriptedGrpcServer server({Unavailable()});
      EchoPolicy policy;
      policy.backoff = absl::Seconds(15);
      Middle middle(
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

TEST(DeadlineScopeTest, CancelAboveIsNotInheritedWhereTheScopeSaysSo) {
  for (const DriverMode mode : kModes) {
    ScriptedGrpcServer server({Answer::Ok().After(absl::Milliseconds(300))});
    const auto channel = ChannelTo(server, mode, MakePolicyTable({}));
    Middle middle([&](grpc::ServerContext& context) {
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

TEST(DeadlineScopeTest, TheDeadlineAboveEndsAWaitThatDidNotKnowIt) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not inherited in this build";
  for (const DriverMode mode : kModes) {
    ScriptedGrpcServer server({Unavailable()});
    EchoPolicy policy;
    policy.backoff = absl::Seconds(15);
    Middle middle(Inheriting(Way::kServerContext,
                             ChannelTo(server, mode, MakePolicyTable(policy))));
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

TEST(DeadlineScopeTest, AWaitThatTheInheritedDeadlineWouldCutIsNotBegun) {
  for (const DriverMode mode : kModes) {
    ScriptedGrpcServer server({Unavailable()});
    EchoPolicy policy;
    policy.backoff = absl::Seconds(15);
    Middle middle(Inheriting(Way::kScope,
                             ChannelTo(server, mode, MakePolicyTable(policy))));
    const UnaryResult result = middle.Call(absl::Seconds(10));
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
    EXPECT_THAT(result.elapsed, Lt(absl::Seconds(5)));
    EXPECT_THAT(result.report, StoppedBecause(StopReason::kDeadline));
  }
}

TEST(DeadlineScopeTest, TheInheritedDeadlineEndsAnAttemptInFlight) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not inherited in this build";
  for (const DriverMode mode : kModes) {
    for (const Way way : kWays) {
      SCOPED_TRACE(Trace(way, mode));
      ScriptedGrpcServer server({Answer::Hang()});
      Middle middle(
          Inheriting(way, ChannelTo(server, mode, MakePolicyTable({}))));
      const UnaryResult result = middle.Call(absl::Milliseconds(300));
      EXPECT_THAT(result.status, IsEndOfServerCall(_));
      EXPECT_THAT(result.elapsed, Lt(absl::Seconds(5)));
    }
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
