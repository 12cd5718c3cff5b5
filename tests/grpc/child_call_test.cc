// What an attempt carries: the first one and every retry, in all API styles.
#include <atomic>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/interceptor_stack.h"
#include "redial/grpc/private_access.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/echo_backend.h"
#include "tests/grpc/hook_recorder.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

std::shared_ptr<grpc::Channel> ChannelTo(const std::string& target,
                                         const CallStyle& style,
                                         const EchoPolicy& policy = {},
                                         ChannelOptions options = {}) {
  options.mode = style.mode;
  options.arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return CreateChannel(target, grpc::InsecureChannelCredentials(),
                       MakePolicyTable(policy), options);
}

// Stops the server when the first retry is scheduled.
class Outage final : public CallObserver {
 public:
  explicit Outage(std::unique_ptr<EchoBackend>* backend) : backend_(backend) {}
  void OnRetryScheduled(const CallInfo&, const RetryScheduled&) override {
    backend_->reset();
  }
  void OnAttemptStart(const CallInfo&, int number, AttemptKind) override {
    if (number == 2) second_begun_.store(true);
  }
  bool second_begun() const { return second_begun_.load(); }

 private:
  std::unique_ptr<EchoBackend>* const backend_;
  std::atomic<bool> second_begun_{false};
};

TEST(ChildCallTest, WaitForReadyHoldsOnARetry) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not carried in this build";
  for (const CallStyle& style : AllCallStyles()) {
    for (const bool wait : {true, false}) {
      SCOPED_TRACE(CallStyleName(style) + (wait ? " waits" : " does not"));
      const std::string address = UnusedLocalAddress();
      auto backend =
          std::make_unique<EchoBackend>(SucceedsAtAttempt(2), address);
      auto outage = std::make_shared<Outage>(&backend);
      ChannelOptions options;
      options.observer = outage;
      options.arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
      options.arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
      EchoPolicy policy;
      policy.max_attempts = 2;
      const auto channel = ChannelTo(address, style, policy, options);
      UnarySpec spec;
      spec.prepare = [wait](grpc::ClientContext& context) {
        if (wait) context.set_wait_for_ready(true);
      };
      std::unique_ptr<EchoBackend> again;
      std::atomic<bool> over{false};
      std::thread restart([&] {
        while (!over && !outage->second_begun()) std::this_thread::yield();
        if (wait) {
          again = std::make_unique<EchoBackend>(SucceedsAtAttempt(1), address);
        }
      });
      const UnaryResult result = CallUnary(channel, style.api, spec);
      over = true;
      restart.join();
      EXPECT_THAT(result.report, Attempts(2));
      if (wait) {
        EXPECT_THAT(result.status, IsOk());
        EXPECT_EQ(result.response.text(), "hello");
      } else {
        EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
      }
    }
  }
}

TEST(ChildCallTest, WaitForReadyHoldsOnTheFirstAttempt) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "not carried in this build";
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    const std::string address = UnusedLocalAddress();
    ChannelOptions options;
    options.arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    options.arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
    const auto channel = ChannelTo(address, style, {}, options);
    UnarySpec spec;
    spec.prepare = [](grpc::ClientContext& context) {
      context.set_wait_for_ready(true);
    };
    std::unique_ptr<EchoBackend> backend;
    std::thread late([&] {
      while (channel->GetState(true) != GRPC_CHANNEL_TRANSIENT_FAILURE) {
        std::this_thread::yield();
      }
      backend = std::make_unique<EchoBackend>(SucceedsAtAttempt(1), address);
    });
    const UnaryResult result = CallUnary(channel, style.api, spec);
    late.join();
    EXPECT_THAT(result.status, IsOk());
    EXPECT_THAT(result.report, Attempts(1));
  }
}

TEST(ChildCallTest, AuthorityAndUserMetadataAreTheSameOnEachAttempt) {
  const std::string binary("\0\x01\xff\x80 raw", 8);
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    EchoBackend backend(SucceedsAtAttempt(4));
    EchoPolicy policy;
    policy.max_attempts = 4;
    policy.adjust = [](MethodPolicy& method) { method.key.generate = true; };
    UnarySpec spec;
    spec.prepare = [&binary](grpc::ClientContext& context) {
      context.set_authority("elsewhere.example");
      context.AddMetadata("x-tag", "one");
      context.AddMetadata("x-tag", "two");
      context.AddMetadata("x-raw-bin", binary);
    };
    const UnaryResult result =
        CallUnary(ChannelTo(backend.target(), style, policy), style.api, spec);
    EXPECT_THAT(result.status, IsOk());
    const auto arrivals = backend.Arrivals();
    ASSERT_THAT(arrivals, SizeIs(4));
    const std::string key = OneValue(arrivals[0].metadata, "idempotency-key");
    EXPECT_THAT(key, SizeIs(36));
    for (int i = 0; i < 4; ++i) {
      SCOPED_TRACE(i + 1);
      const auto& metadata = arrivals[i].metadata;
      // A setting that is not carried in a build without private access.
      if (HasPrivateAccess()) {
        EXPECT_EQ(arrivals[i].authority, "elsewhere.example");
      }
      EXPECT_EQ(metadata.count("x-tag"), 2);
      const auto tag = metadata.find("x-tag");
      EXPECT_EQ(tag->second, "one");
      EXPECT_EQ(std::next(tag)->second, "two");
      EXPECT_EQ(OneValue(metadata, "x-raw-bin"), binary);
      EXPECT_EQ(OneValue(metadata, "idempotency-key"), key);
      EXPECT_EQ(OneValue(metadata, "redial-previous-attempts"),
                i == 0 ? "" : std::to_string(i));
    }
  }
}

TEST(ChildCallTest, GrpcsOwnAttemptNumberIsSentWhereCoreLetsItThrough) {
  for (const DriverMode mode :
       {DriverMode::kNativeFirst, DriverMode::kAlwaysOwned}) {
    EchoBackend backend(SucceedsAtAttempt(3));
    ChannelOptions options;
    options.transparent_retries = false;
    const UnaryResult result = CallUnary(
        ChannelTo(backend.target(), {UnaryApi::kSync, mode}, {}, options),
        UnaryApi::kSync);
    EXPECT_THAT(result.status, IsOk());
    const auto arrivals = backend.Arrivals();
    ASSERT_THAT(arrivals, SizeIs(3));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(OneValue(arrivals[i].metadata, "grpc-previous-rpc-attempts"),
                i == 0 ? "" : std::to_string(i));
    }
  }
}

TEST(ChildCallTest, AttemptNumbersForwardedFromAnotherCallAreNotSent) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    EchoBackend backend(SucceedsAtAttempt(2));
    ChannelOptions options;
    options.transparent_retries = false;
    UnarySpec spec;
    spec.prepare = [](grpc::ClientContext& context) {
      context.AddMetadata("redial-previous-attempts", "7");
      context.AddMetadata("grpc-previous-rpc-attempts", "7");
      context.AddMetadata("x-kept", "yes");
    };
    const UnaryResult result = CallUnary(
        ChannelTo(backend.target(), style, {}, options), style.api, spec);
    EXPECT_THAT(result.status, IsOk());
    const auto arrivals = backend.Arrivals();
    ASSERT_THAT(arrivals, SizeIs(2));
    for (const char* name :
         {"redial-previous-attempts", "grpc-previous-rpc-attempts"}) {
      EXPECT_EQ(OneValue(arrivals[0].metadata, name), "");
      EXPECT_EQ(OneValue(arrivals[1].metadata, name), "1");
    }
    EXPECT_EQ(OneValue(arrivals[1].metadata, "x-kept"), "yes");
  }
}

TEST(ChildCallTest, AnAttemptNumberWithoutANameIsNotSent) {
  EchoBackend backend(SucceedsAtAttempt(2));
  EchoPolicy policy;
  policy.adjust = [](MethodPolicy& method) {
    method.previous_attempts_name.clear();
  };
  const CallStyle style;
  EXPECT_THAT(
      CallUnary(ChannelTo(backend.target(), style, policy), style.api).status,
      IsOk());
  const auto arrivals = backend.Arrivals();
  ASSERT_THAT(arrivals, SizeIs(2));
  EXPECT_EQ(arrivals[1].metadata.count("redial-previous-attempts"), 0);
}

TEST(ChildCallTest, CompressionHoldsOnARetry) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    EchoBackend backend(SucceedsAtAttempt(3));
    UnarySpec spec;
    spec.text = std::string(1024, 'a');
    spec.prepare = [](grpc::ClientContext& context) {
      context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    };
    const UnaryResult result =
        CallUnary(ChannelTo(backend.target(), style), style.api, spec);
    EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
    EXPECT_EQ(result.response.text(), spec.text);
    const auto arrivals = backend.Arrivals();
    ASSERT_THAT(arrivals, SizeIs(3));
    for (const EchoArrival& arrival : arrivals) {
      EXPECT_EQ(arrival.compression, "gzip");
    }
  }
}

TEST(ChildCallTest, AResponseAboveTheLimitIsNotRetriedByDefault) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const int failures_before : {0, 1}) {
      SCOPED_TRACE(CallStyleName(style) + " " +
                   std::to_string(failures_before));
      std::vector<Answer> answers(failures_before, Unavailable());
      Answer large = Answer::Ok();
      v1::EchoResponse response;
      response.set_text(std::string(4096, 'x'));
      large.body = response.SerializeAsString();
      answers.push_back(large);
      ScriptedGrpcServer server(answers);
      ChannelOptions options;
      options.arguments.SetMaxReceiveMessageSize(1024);
      EchoPolicy policy;
      policy.codes = {};
      UnarySpec spec;
      spec.method = EchoMethod::kUnaryIdempotent;
      const UnaryResult result = CallUnary(
          ChannelTo(server.target(), style, policy, options), style.api, spec);
      EXPECT_THAT(result.status,
                  StatusIs(grpc::StatusCode::RESOURCE_EXHAUSTED));
      EXPECT_EQ(result.response.text(), "");
      EXPECT_THAT(result.report, AllOf(Attempts(failures_before + 1),
                                       StoppedBecause(StopReason::kPermanent)));
      EXPECT_THAT(server.Requests(), SizeIs(failures_before + 1));
    }
  }
}

TEST(ChildCallTest, ARequestAboveTheSendLimitIsNotRetriedByDefault) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Answer::Ok()});
    ChannelOptions options;
    options.arguments.SetMaxSendMessageSize(100);
    EchoPolicy policy;
    policy.codes = {};
    UnarySpec spec;
    spec.method = EchoMethod::kUnaryIdempotent;
    spec.text = std::string(1000, 'x');
    const UnaryResult result = CallUnary(
        ChannelTo(server.target(), style, policy, options), style.api, spec);
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::RESOURCE_EXHAUSTED));
    EXPECT_THAT(result.report, Attempts(1));
  }
}

TEST(ChildCallTest, ARequestAboveTheRetainedSizeIsSentOnce) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
    EchoPolicy policy;
    policy.adjust = [](MethodPolicy& method) {
      method.retry->max_retained_request_bytes = 1000;
    };
    const auto channel = ChannelTo(server.target(), style, policy);
    UnarySpec spec;
    spec.text = std::string(1001, 'x');
    UnaryResult result = CallUnary(channel, style.api, spec);
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
    EXPECT_THAT(result.report,
                AllOf(Attempts(1), StoppedBecause(StopReason::kNotReplayable)));
    ASSERT_THAT(server.Requests(), SizeIs(1));
    // Sent whole, all the same.
    v1::EchoRequest request;
    ASSERT_TRUE(request.ParseFromString(server.Requests()[0].messages.at(0)));
    EXPECT_EQ(request.text(), spec.text);
  }
}

TEST(ChildCallTest, CensusContextIsThatOfTheCaller) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
    // gRPC never looks into it.
    static int anything = 0;
    auto* const census = reinterpret_cast<census_context*>(&anything);
    std::atomic<int> seen{0};
    InterceptorStack stack(MakePolicyTable({}), server.target(),
                           TestChannelOptions(style.mode));
    stack.AddPerAttempt(std::make_unique<RecordingFactory>(
        nullptr, [&](grpc::experimental::ClientRpcInfo* info,
                     grpc::experimental::InterceptorBatchMethods* methods) {
          if (methods->QueryInterceptionHookPoint(
                  grpc::experimental::InterceptionHookPoints::
                      PRE_SEND_INITIAL_METADATA) &&
              info->client_context()->census_context() == census) {
            ++seen;
          }
        }));
    UnarySpec spec;
    spec.prepare = [census](grpc::ClientContext& context) {
      context.set_census_context(census);
    };
    const UnaryResult result =
        CallUnary(stack.CreateChannel(grpc::InsecureChannelCredentials()),
                  style.api, spec);
    EXPECT_THAT(result.status, IsOk());
    EXPECT_EQ(seen, 2);
  }
}

}  // namespace
}  // namespace redial
