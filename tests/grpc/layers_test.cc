// Layers that retry, more than one on a channel: attempts are not multiplied.
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/interceptor_stack.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

Answer FailsFirstAttempts(const ScriptedGrpcRequest& request) {
  return request.metadata.count("redial-previous-attempts") == 0 ? Unavailable()
                                                                 : Answer::Ok();
}

TEST(LayersTest, TwoLayersOnOneChannelDoNotMultiply) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const bool behind : {true, false}) {
      SCOPED_TRACE(CallStyleName(style) + (behind ? " behind" : " around"));
      ScriptedGrpcServer server({Unavailable()});
      const auto table = MakePolicyTable({});
      InterceptorStack first(table, "first", TestChannelOptions(style.mode));
      InterceptorStack second(table, "second", TestChannelOptions(style.mode));
      auto factories = first.Factories();
      auto inner = second.Factories();
      factories.insert(behind ? factories.end() : factories.begin(),
                       std::make_move_iterator(inner.begin()),
                       std::make_move_iterator(inner.end()));
      const auto channel =
          grpc::experimental::CreateCustomChannelWithInterceptors(
              server.target(), grpc::InsecureChannelCredentials(),
              first.ChannelArguments(), std::move(factories));
      for (int call = 1; call <= 3; ++call) {
        const UnaryResult result = CallUnary(channel, style.api);
        EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
        EXPECT_THAT(server.Requests(), SizeIs(3 * call));
      }
    }
  }
}

// Channels come and go at the same addresses, contexts too.
TEST(LayersTest, ANewChannelAtAnOldAddressIsNoSecondLayer) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server(FailsFirstAttempts, false);
    // What the stacks share with their channels stays where it is.
    std::vector<std::unique_ptr<InterceptorStack>> stacks;
    for (int round = 0; round < 20; ++round) {
      stacks.push_back(std::make_unique<InterceptorStack>(
          MakePolicyTable({}), server.target(),
          TestChannelOptions(style.mode)));
      const auto channel =
          stacks.back()->CreateChannel(grpc::InsecureChannelCredentials());
      ASSERT_THAT(CallUnary(channel, style.api).status, IsOk()) << round;
    }
  }
}

TEST(LayersTest, AnOuterLayerWithoutAPolicyLeavesTheInnerOneToWork) {
  ScriptedGrpcServer server({Unavailable()});
  InterceptorStack outer(std::make_shared<PolicyTable>(), "outer",
                         TestChannelOptions());
  InterceptorStack inner(MakePolicyTable({}), "inner", TestChannelOptions());
  auto factories = outer.Factories();
  for (auto& factory : inner.Factories()) {
    factories.push_back(std::move(factory));
  }
  const auto channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      server.target(), grpc::InsecureChannelCredentials(),
      inner.ChannelArguments(), std::move(factories));
  const auto stub = v1::Echo::NewStub(channel);
  grpc::ClientContext context;
  v1::EchoResponse response;
  EXPECT_THAT(stub->Unary(&context, v1::EchoRequest(), &response),
              StatusIs(grpc::StatusCode::UNAVAILABLE));
  EXPECT_THAT(server.Requests(), SizeIs(3));
}

constexpr char kArmedConfig[] = R"({
  "methodConfig": [{
    "name": [{"service": "redial.v1.Echo"}],
    "retryPolicy": {
      "maxAttempts": 3, "initialBackoff": "0.01s", "maxBackoff": "0.01s",
      "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]
    }
  }]
})";

TEST(LayersTest, CoreRetriesArmedByTheApplicationDoNotMultiply) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const bool through_stack : {true, false}) {
      SCOPED_TRACE(CallStyleName(style) +
                   (through_stack ? " options" : " channel"));
      ScriptedGrpcServer server({Unavailable()});
      ChannelOptions options = TestChannelOptions(style.mode);
      options.arguments.SetServiceConfigJSON(kArmedConfig);
      InterceptorStack stack(MakePolicyTable({}), server.target(), options);
      grpc::ChannelArguments arguments = stack.ChannelArguments();
      // The application's own, after redial's: core does retry.
      if (!through_stack) arguments.SetServiceConfigJSON(kArmedConfig);
      const auto channel =
          grpc::experimental::CreateCustomChannelWithInterceptors(
              server.target(), grpc::InsecureChannelCredentials(), arguments,
              stack.Factories());
      for (int call = 1; call <= 2; ++call) {
        const UnaryResult result = CallUnary(channel, style.api);
        EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
        EXPECT_THAT(server.Requests(), SizeIs(3 * call));
      }
    }
  }
}

// The first attempt ends before the channel knows its service config.
TEST(LayersTest, CoreRetriesAreSeenLater) {
  ScriptedGrpcServer server({Unavailable()});
  InterceptorStack stack(MakePolicyTable({}), server.target(),
                         TestChannelOptions());
  grpc::ChannelArguments arguments = stack.ChannelArguments();
  arguments.SetServiceConfigJSON(kArmedConfig);
  const auto channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      server.target(), grpc::InsecureChannelCredentials(), arguments,
      stack.Factories());
  UnarySpec cancelled;
  cancelled.prepare = [](grpc::ClientContext& context) { context.TryCancel(); };
  CallUnary(channel, UnaryApi::kSync, cancelled);
  UnarySpec hurried;
  hurried.options.set_attempt_timeout(absl::Nanoseconds(1));
  CallUnary(channel, UnaryApi::kSync, hurried);
  const size_t before = server.Requests().size();
  CallUnary(channel, UnaryApi::kSync);
  EXPECT_THAT(server.Requests(), SizeIs(before + 3));
}

}  // namespace
}  // namespace redial
