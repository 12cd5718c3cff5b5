// Answers as they come over a real wire: good, bad and broken.
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "redial/testing/tcp_relay.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

Answer Unavailable(const std::string& message = "not yet") {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, message);
}

std::shared_ptr<grpc::Channel> ChannelTo(const std::string& target,
                                         const CallStyle& style,
                                         const EchoPolicy& policy = {}) {
  return CreateChannel(target, grpc::InsecureChannelCredentials(),
                       MakePolicyTable(policy), TestChannelOptions(style.mode));
}

struct PushbackCase {
  const char* value;
  // Infinite: no retry.
  absl::Duration wait;
};

// gRPC parses and rewrites the value on both ends: what is not canonical may
// arrive as if it were.
TEST(AnswersTest, PushbackOnTheWire) {
  const absl::Duration kStop = absl::InfiniteDuration();
  const PushbackCase cases[] = {
      {"0", absl::ZeroDuration()},
      {"25", absl::Milliseconds(25)},
      {"007", absl::Milliseconds(7)},
      {"-1", kStop},
      {"-2147483648", kStop},
      {"abc", kStop},
      {"1.5", kStop},
      {"", kStop},
      {" ", kStop},
      {"2147483648", kStop},
      {"99999999999999999999", kStop},
      {"0x10", kStop},
  };
  for (const PushbackCase& c : cases) {
    for (const CallStyle& style : AllCallStyles()) {
      SCOPED_TRACE(absl::StrCat("'", c.value, "' ", CallStyleName(style)));
      Answer pushing = Unavailable();
      pushing.WithTrailer("grpc-retry-pushback-ms", c.value);
      ScriptedGrpcServer server({pushing, Answer::Ok()});
      EchoPolicy policy;
      policy.backoff = absl::Milliseconds(1);
      const UnaryResult result =
          CallUnary(ChannelTo(server.target(), style, policy), style.api);
      // A server that could not send the value sent an answer without it.
      if (c.wait == kStop && result.status.ok()) {
        EXPECT_EQ(result.report.attempts[1].wait_from, WaitSource::kBackoff);
        continue;
      }
      EXPECT_EQ(result.status.ok(), c.wait != kStop);
      if (c.wait == kStop) {
        EXPECT_THAT(
            result.report,
            AllOf(Attempts(1), StoppedBecause(StopReason::kPushbackStop)));
        EXPECT_THAT(server.Requests(), SizeIs(1));
      } else {
        EXPECT_THAT(result.report, Waits(c.wait));
        EXPECT_EQ(result.report.attempts[1].wait_from, WaitSource::kPushback);
      }
    }
  }
}

struct DetailsCase {
  const char* name;
  Answer answer;
  int attempts;
  StopReason reason;
};

TEST(AnswersTest, ErrorDetailsThatAreAbsurdOrBroken) {
  const Answer good = Unavailable().WithRetryInfo(absl::Milliseconds(5));
  std::vector<DetailsCase> cases = {
      {"negative", Unavailable().WithRetryInfo(-absl::Seconds(5)), 2,
       StopReason::kSuccess},
      {"ten years", Unavailable().WithRetryInfo(absl::Hours(87600)), 1,
       StopReason::kPushbackTooLong},
      {"zero", Unavailable().WithRetryInfo(absl::ZeroDuration()), 2,
       StopReason::kSuccess},
  };
  const std::string details = good.status.error_details();
  for (size_t length = 1; length < details.size(); length += 3) {
    Answer cut = Unavailable();
    cut.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "cut",
                              details.substr(0, length));
    cases.push_back({"cut", cut, 2, StopReason::kSuccess});
  }
  Answer noise = Unavailable();
  noise.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "noise",
                              std::string(4000, '\xff'));
  cases.push_back({"noise", noise, 2, StopReason::kSuccess});
  for (const DetailsCase& c : cases) {
    for (const DriverMode mode :
         {DriverMode::kNativeFirst, DriverMode::kAlwaysOwned}) {
      SCOPED_TRACE(c.name);
      ScriptedGrpcServer server({c.answer, Answer::Ok()});
      const UnaryResult result = CallUnary(
          ChannelTo(server.target(), {UnaryApi::kSync, mode}), UnaryApi::kSync);
      EXPECT_THAT(result.report,
                  AllOf(Attempts(c.attempts), StoppedBecause(c.reason)));
    }
  }
}

TEST(AnswersTest, HeadersAndThenSilenceCommitTheCall) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    Answer silent = Answer::Hang();
    silent.initial_metadata.emplace("which", "first");
    Answer good = Answer::Ok();
    good.initial_metadata.emplace("which", "second");
    ScriptedGrpcServer server({silent, good});
    EchoPolicy policy;
    policy.codes = {absl::StatusCode::kDeadlineExceeded};
    policy.attempt_timeout = absl::Milliseconds(100);
    const UnaryResult result =
        CallUnary(ChannelTo(server.target(), style, policy), style.api);
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::DEADLINE_EXCEEDED));
    EXPECT_THAT(result.report,
                AllOf(Attempts(1), StoppedBecause(StopReason::kCommitted)));
    EXPECT_THAT(server.Requests(), SizeIs(1));
    const bool kept_waiting = !OwnsFirstAttempt(style.mode) ||
                              style.api != UnaryApi::kCompletionQueueInitial;
    if (kept_waiting) {
      EXPECT_EQ(OneValue(result.initial_metadata, "which"), "first");
    }
  }
}

// Where the policy lifts that, only headers that the application has seen
// already commit.
TEST(AnswersTest, HeadersThatNobodySawDoNotCommitWhereThePolicySaysSo) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    Answer silent = Answer::Hang();
    silent.initial_metadata.emplace("which", "first");
    Answer good = Answer::Ok();
    good.initial_metadata.emplace("which", "second");
    ScriptedGrpcServer server({silent, good});
    EchoPolicy policy;
    policy.codes = {absl::StatusCode::kDeadlineExceeded};
    policy.attempt_timeout = absl::Milliseconds(100);
    policy.adjust = [](MethodPolicy& method) {
      method.retry->headers_commit = false;
    };
    const UnaryResult result =
        CallUnary(ChannelTo(server.target(), style, policy), style.api);
    const bool native = !OwnsFirstAttempt(style.mode);
    const bool seen =
        native && (style.api == UnaryApi::kCompletionQueueInitial ||
                   style.api == UnaryApi::kReactor);
    EXPECT_EQ(result.status.ok(), !seen) << result.report.Summary();
    EXPECT_THAT(server.Requests(), SizeIs(seen ? 1 : 2));
    if (seen) {
      EXPECT_EQ(OneValue(result.initial_metadata, "which"), "first");
    } else if (native || style.api != UnaryApi::kCompletionQueueInitial) {
      EXPECT_EQ(OneValue(result.initial_metadata, "which"), "second");
    }
  }
}

TEST(AnswersTest, ATargetThatIsAnAddressItselfIsRetriedOn) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Answer::Hang(), Unavailable(), Answer::Ok()});
    EchoPolicy policy;
    policy.codes = {absl::StatusCode::kDeadlineExceeded,
                    absl::StatusCode::kUnavailable};
    policy.attempt_timeout = absl::Milliseconds(100);
    const UnaryResult result = CallUnary(
        ChannelTo(absl::StrCat("ipv4:", server.target()), style, policy),
        style.api);
    EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
    EXPECT_THAT(result.report, Attempts(3));
  }
}

TEST(AnswersTest, ARefusedConnectionIsRetried) {
  for (const char* target :
       {"127.0.0.1:1", "ipv4:127.0.0.1:1", "unix:/nonexistent/redial.sock"}) {
    for (const CallStyle& style : AllCallStyles()) {
      SCOPED_TRACE(absl::StrCat(target, " ", CallStyleName(style)));
      const UnaryResult result = CallUnary(ChannelTo(target, style), style.api);
      EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
      EXPECT_THAT(
          result.report,
          AllOf(Attempts(3), StoppedBecause(StopReason::kAttemptsExhausted)));
    }
  }
}

// The connection breaks after the headers.
TEST(AnswersTest, AnAnswerWithoutAnEndIsFinal) {
  for (const DriverMode mode :
       {DriverMode::kNativeFirst, DriverMode::kAlwaysOwned}) {
    Answer silent = Answer::Hang();
    silent.initial_metadata.emplace("which", "first");
    ScriptedGrpcServer server({silent, Answer::Ok()});
    int port = 0;
    ASSERT_TRUE(absl::SimpleAtoi(
        server.target().substr(server.target().find(':') + 1), &port));
    auto relay = TcpRelay::Start(port);
    ASSERT_THAT(relay.status(), IsOk());
    const auto stub = v1::Echo::NewStub(
        ChannelTo(absl::StrCat("127.0.0.1:", (*relay)->port()),
                  {UnaryApi::kReactor, mode}));
    struct Waiter final : grpc::ClientUnaryReactor {
      void OnReadInitialMetadataDone(bool) override { headers.set_value(); }
      void OnDone(const grpc::Status& status) override {
        done.set_value(status);
      }
      std::promise<void> headers;
      std::promise<grpc::Status> done;
    } reactor;
    grpc::ClientContext context;
    v1::EchoRequest request;
    v1::EchoResponse response;
    stub->async()->Unary(&context, &request, &response, &reactor);
    reactor.StartCall();
    if (!OwnsFirstAttempt(mode)) {
      reactor.headers.get_future().wait();
    } else {
      ASSERT_TRUE(server.WaitForRequests(1));
    }
    (*relay)->DropAll();
    const grpc::Status status = reactor.done.get_future().get();
    if (!OwnsFirstAttempt(mode)) {
      EXPECT_THAT(status, StatusIs(grpc::StatusCode::UNAVAILABLE));
      EXPECT_THAT(server.Requests(), SizeIs(1));
    } else {
      // Whether the headers were here first is a race.
      EXPECT_THAT(status,
                  AnyOf(StatusIs(grpc::StatusCode::UNAVAILABLE), IsOk()));
    }
    (*relay)->DropAll();
  }
}

TEST(AnswersTest, TrailersOfTwoAttemptsAreNeverMixed) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const bool well : {true, false}) {
      SCOPED_TRACE(CallStyleName(style) + (well ? " OK" : " failing"));
      Answer last = well ? Answer::Ok() : Unavailable("last");
      last.WithTrailer("only-last", "3").WithTrailer("all", "3");
      ScriptedGrpcServer server({Unavailable("one")
                                     .WithTrailer("only-first", "1")
                                     .WithTrailer("all", "1"),
                                 Unavailable("two")
                                     .WithTrailer("only-second", "2")
                                     .WithTrailer("all", "2"),
                                 last});
      const UnaryResult result =
          CallUnary(ChannelTo(server.target(), style), style.api);
      EXPECT_EQ(result.status.error_message(), well ? "" : "last");
      EXPECT_EQ(OneValue(result.trailers, "all"), "3");
      EXPECT_EQ(OneValue(result.trailers, "only-last"), "3");
      EXPECT_EQ(result.trailers.count("only-first"), 0);
      EXPECT_EQ(result.trailers.count("only-second"), 0);
    }
  }
}

// An error that comes with a message: gRPC lets the caller see neither more nor
// less of it after a retry.
TEST(AnswersTest, AMessageBeforeAnErrorIsNoAnswer) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    Answer odd = Unavailable();
    odd.messages = 1;
    ScriptedGrpcServer server({odd, Answer::Ok()});
    const UnaryResult result =
        CallUnary(ChannelTo(server.target(), style), style.api);
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
    EXPECT_THAT(result.report,
                AllOf(Attempts(1), StoppedBecause(StopReason::kCommitted)));
  }
}

TEST(AnswersTest, TheServersOwnDeadlineExceededIsNoAttemptTimeout) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Answer::Error(
        grpc::StatusCode::DEADLINE_EXCEEDED, "the server's own")});
    EchoPolicy policy;
    policy.attempt_timeout = absl::Seconds(5);
    const UnaryResult result =
        CallUnary(ChannelTo(server.target(), style, policy), style.api);
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::DEADLINE_EXCEEDED,
                                        "the server's own"));
    EXPECT_THAT(result.report,
                AllOf(Attempts(1), StoppedBecause(StopReason::kPermanent)));
  }
}

TEST(AnswersTest, TheServersOwnCancelIsNotTheCallers) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server(
        {Answer::Error(grpc::StatusCode::CANCELLED, "by the server"),
         Answer::Ok()});
    EchoPolicy policy;
    policy.codes = {absl::StatusCode::kCancelled};
    const UnaryResult result =
        CallUnary(ChannelTo(server.target(), style, policy), style.api);
    EXPECT_THAT(result.status, IsOk());
    EXPECT_THAT(server.Requests(), SizeIs(2));
  }
}

}  // namespace
}  // namespace redial
