// What the driver relies on in gRPC beyond its public contract. Each of these
// fails where gRPC changed underneath; README's table names the versions tried.
#include "redial/grpc/private_access.h"

#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/interceptor_stack.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/echo_backend.h"
#include "tests/grpc/hook_recorder.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;
using Hook = grpc::experimental::InterceptionHookPoints;

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

class TakeoverTest : public ::testing::TestWithParam<UnaryApi> {
 protected:
  void SetUp() override {
    if (!HasPrivateAccess()) GTEST_SKIP() << "built without private access";
  }
};

// The application's own call, which failed at the server, ends as if it had
// received the answer of the second attempt.
TEST_P(TakeoverTest, AFailedNativeCallDeliversAnotherAnswer) {
  Answer good = Answer::Ok();
  good.WithTrailer("from", "second");
  good.initial_metadata.emplace("from", "second");
  ScriptedGrpcServer server({Unavailable(), good});
  InterceptorStack stack(MakePolicyTable({}), server.target(),
                         TestChannelOptions());
  HookLog outside;
  stack.AddPerCall(std::make_unique<RecordingFactory>(&outside));
  HookLog inside;
  stack.AddPerAttempt(std::make_unique<RecordingFactory>(&inside));
  const UnaryResult result = CallUnary(
      stack.CreateChannel(grpc::InsecureChannelCredentials()), GetParam());
  // SetHijackingState() makes an op set believe that it got a message...
  EXPECT_THAT(result.status, IsOk());
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.response.text(), "hello");
  EXPECT_EQ(OneValue(result.trailers, "from"), "second");
  // ...and SetReverse() and the hook points hide that from those outside.
  for (const HookRecord& record : outside.records()) {
    if (!record.Saw(Hook::POST_RECV_STATUS)) continue;
    EXPECT_TRUE(record.Saw(Hook::POST_RECV_MESSAGE));
    EXPECT_FALSE(record.Saw(Hook::PRE_RECV_MESSAGE));
    EXPECT_TRUE(record.has_message);
    EXPECT_EQ(record.code, grpc::OK);
  }
  EXPECT_EQ(outside.Count(Hook::POST_RECV_STATUS), 1);
  // The first attempt was the application's own call: one child.
  EXPECT_EQ(inside.interceptors(), 2);
}

// The hooks of one call come in the batches that the driver knows.
TEST_P(TakeoverTest, BatchesHaveTheOpsThatTheDriverExpects) {
  ScriptedGrpcServer server({Answer::Ok()});
  HookLog log;
  std::vector<std::unique_ptr<InterceptorStack::Factory>> factories;
  factories.push_back(std::make_unique<RecordingFactory>(&log));
  const auto channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      server.target(), grpc::InsecureChannelCredentials(),
      TestChannelOptions().arguments, std::move(factories));
  EXPECT_THAT(CallUnary(channel, GetParam()).status, IsOk());
  const auto records = log.records();
  ASSERT_FALSE(records.empty());
  // Metadata and message go together, in the first batch.
  EXPECT_TRUE(records[0].Saw(Hook::PRE_SEND_INITIAL_METADATA));
  EXPECT_TRUE(records[0].Saw(Hook::PRE_SEND_MESSAGE));
  const bool two_batches = GetParam() == UnaryApi::kReactor ||
                           GetParam() == UnaryApi::kCompletionQueueInitial;
  EXPECT_THAT(records, SizeIs(two_batches ? 4 : 2));
  // The response object is known before the answer.
  EXPECT_TRUE(
      records[0].has_message ||
      (two_batches && (records[1].has_message || records[2].has_message)));
  for (const HookRecord& record : records) {
    if (!record.Saw(Hook::POST_RECV_STATUS)) continue;
    EXPECT_TRUE(record.Saw(Hook::POST_RECV_MESSAGE));
    EXPECT_EQ(record.Saw(Hook::POST_RECV_INITIAL_METADATA), !two_batches);
  }
}

INSTANTIATE_TEST_SUITE_P(AllStyles, TakeoverTest,
                         ::testing::Values(UnaryApi::kSync,
                                           UnaryApi::kCompletionQueue,
                                           UnaryApi::kCompletionQueueInitial,
                                           UnaryApi::kCallback,
                                           UnaryApi::kReactor),
                         [](const ::testing::TestParamInfo<UnaryApi>& info) {
                           return UnaryApiName(info.param);
                         });

TEST(PrivateAccessTest, TheServerCallOfAContextIsSeenAndSet) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "built without private access";
  EchoBackend backend([](const EchoArrival&, grpc::ServerContext& context,
                         const v1::EchoRequest&, v1::EchoResponse*) {
    const auto made = grpc::ClientContext::FromServerContext(context);
    EXPECT_EQ(ServerCallOf(*made), context.c_call());
    grpc::ClientContext other;
    EXPECT_EQ(ServerCallOf(other), nullptr);
    EXPECT_TRUE(SetServerCall(&other, context.c_call()));
    EXPECT_EQ(ServerCallOf(other), context.c_call());
    grpc::ClientContext copy;
    CarryHiddenSettings(other, &copy);
    EXPECT_EQ(ServerCallOf(copy), context.c_call());
    return grpc::Status();
  });
  const auto channel =
      grpc::CreateChannel(backend.target(), grpc::InsecureChannelCredentials());
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).status, IsOk());
}

TEST(PrivateAccessTest, ABareCallRunsNoInterceptorAndHoldsNoChannel) {
  if (!HasPrivateAccess()) GTEST_SKIP() << "built without private access";
  ScriptedGrpcServer server({Answer::Ok()});
  HookLog log;
  std::vector<std::unique_ptr<InterceptorStack::Factory>> factories;
  factories.push_back(std::make_unique<RecordingFactory>(&log));
  auto channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      server.target(), grpc::InsecureChannelCredentials(),
      TestChannelOptions().arguments, std::move(factories));
  grpc::CompletionQueue queue;
  {
    grpc::ClientContext context;
    EXPECT_NE(CreateBareCall(channel.get(), "/redial.v1.Echo/Unary", &context,
                             &queue),
              nullptr);
    EXPECT_EQ(channel.use_count(), 1);
    context.TryCancel();
    EXPECT_EQ(log.interceptors(), 0);
  }
  queue.Shutdown();
}

TEST(PrivateAccessTest, DescribeSaysHowTheFirstAttemptIsMade) {
  const InterceptorStack stack(MakePolicyTable({}), "greeter:443");
  EXPECT_THAT(stack.Describe(),
              ::testing::HasSubstr(HasPrivateAccess() ? "first attempt native"
                                                      : "first attempt owned"));
}

}  // namespace
}  // namespace redial
