// The application's own interceptors, around redial and behind it.
#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/message_lite.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/interceptor_stack.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/hook_recorder.h"
#include "tests/grpc/interceptor_places.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;
using Batch = grpc::experimental::InterceptorBatchMethods;
using Hook = grpc::experimental::InterceptionHookPoints;
using grpc::experimental::ClientRpcInfo;

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}
std::vector<Answer> TwoFailures() {
  return {Unavailable(), Unavailable(), Answer::Ok()};
}

Answer FailsFirstAttempts(const ScriptedGrpcRequest& request) {
  return request.metadata.count("redial-previous-attempts") == 0 ? Unavailable()
                                                                 : Answer::Ok();
}

TEST(UserInterceptorsTest, SeeEachCallOnceOrEachAttemptOnce) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const Place place : kPlaces) {
      SCOPED_TRACE(CallStyleName(style) + " " + PlaceName(place));
      ScriptedGrpcServer server(TwoFailures());
      HookLog log;
      const UnaryResult result =
          CallUnary(ChannelWith(server, style, place,
                                std::make_unique<RecordingFactory>(&log)),
                    style.api);
      EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
      EXPECT_THAT(result.report, Attempts(3));
      EXPECT_THAT(server.Requests(), SizeIs(3));
      const int seen = place == Place::kPerCall ? 1 : 3;
      EXPECT_EQ(log.Count(Hook::PRE_SEND_INITIAL_METADATA), seen);
      EXPECT_EQ(log.Count(Hook::PRE_SEND_MESSAGE), seen);
      EXPECT_EQ(log.Count(Hook::POST_RECV_STATUS), seen);
    }
  }
}

TEST(UserInterceptorsTest, OutsideNothingOfTheTakeoverIsSeen) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const bool well : {true, false}) {
      SCOPED_TRACE(CallStyleName(style) + (well ? " OK" : " failing"));
      ScriptedGrpcServer server(well ? TwoFailures()
                                     : std::vector<Answer>{Unavailable()});
      HookLog log;
      const UnaryResult result =
          CallUnary(ChannelWith(server, style, Place::kPerCall,
                                std::make_unique<RecordingFactory>(&log)),
                    style.api);
      EXPECT_EQ(result.status.ok(), well);
      int finished = 0;
      for (const HookRecord& record : log.records()) {
        const bool post = record.Saw(Hook::POST_RECV_INITIAL_METADATA) ||
                          record.Saw(Hook::POST_RECV_MESSAGE) ||
                          record.Saw(Hook::POST_RECV_STATUS) ||
                          record.Saw(Hook::POST_SEND_MESSAGE);
        if (!post) continue;
        EXPECT_FALSE(record.Saw(Hook::PRE_RECV_INITIAL_METADATA));
        EXPECT_FALSE(record.Saw(Hook::PRE_RECV_MESSAGE));
        EXPECT_FALSE(record.Saw(Hook::PRE_RECV_STATUS));
        if (!record.Saw(Hook::POST_RECV_STATUS)) continue;
        ++finished;
        EXPECT_EQ(record.code, well ? grpc::OK : grpc::UNAVAILABLE);
        EXPECT_TRUE(record.Saw(Hook::POST_RECV_MESSAGE));
        if (well) {
          EXPECT_TRUE(record.has_message);
        }
      }
      EXPECT_EQ(finished, 1);
    }
  }
}

// The same hooks, in the same order, as for a call that succeeds at once.
TEST(UserInterceptorsTest, OutsideARetriedCallLooksLikeOneThatWentWell) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    std::vector<std::vector<std::vector<Hook>>> seen;
    for (const auto& answers :
         {std::vector<Answer>{Answer::Ok()}, TwoFailures()}) {
      ScriptedGrpcServer server(answers);
      HookLog log;
      const UnaryResult result =
          CallUnary(ChannelWith(server, style, Place::kPerCall,
                                std::make_unique<RecordingFactory>(&log)),
                    style.api);
      EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
      seen.emplace_back();
      for (const HookRecord& record : log.records()) {
        seen.back().push_back(record.hooks);
      }
      // Two batches of a reactor end in either order.
      std::sort(seen.back().begin(), seen.back().end());
    }
    EXPECT_EQ(seen[0], seen[1]);
  }
}

TEST(UserInterceptorsTest, MetadataAddedByOneIsSentOnceOnEachAttempt) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const Place place : kPlaces) {
      SCOPED_TRACE(CallStyleName(style) + " " + PlaceName(place));
      ScriptedGrpcServer server(TwoFailures());
      std::atomic<int> number{0};
      const UnaryResult result = CallUnary(
          ChannelWith(server, style, place,
                      std::make_unique<RecordingFactory>(
                          nullptr,
                          [&number](ClientRpcInfo*, Batch* batch) {
                            if (!batch->QueryInterceptionHookPoint(
                                    Hook::PRE_SEND_INITIAL_METADATA)) {
                              return;
                            }
                            batch->GetSendInitialMetadata()->emplace(
                                "x-span", std::to_string(++number));
                          })),
          style.api);
      EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
      const auto requests = server.Requests();
      ASSERT_THAT(requests, SizeIs(3));
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(OneValue(requests[i].metadata, "x-span"),
                  place == Place::kPerCall ? "1" : std::to_string(i + 1));
      }
    }
  }
}

TEST(UserInterceptorsTest, ARequestModifiedByOneIsSentOnEachAttempt) {
  v1::EchoRequest other;
  other.set_text("modified");
  for (const CallStyle& style : AllCallStyles()) {
    // gRPC itself cannot do that to a request of the completion-queue API.
    if (style.api == UnaryApi::kCompletionQueue ||
        style.api == UnaryApi::kCompletionQueueInitial) {
      continue;
    }
    for (const Place place : kPlaces) {
      SCOPED_TRACE(CallStyleName(style) + " " + PlaceName(place));
      ScriptedGrpcServer server(TwoFailures());
      const UnaryResult result =
          CallUnary(ChannelWith(server, style, place,
                                std::make_unique<RecordingFactory>(
                                    nullptr,
                                    [&other](ClientRpcInfo*, Batch* batch) {
                                      if (batch->QueryInterceptionHookPoint(
                                              Hook::PRE_SEND_MESSAGE)) {
                                        batch->ModifySendMessage(&other);
                                      }
                                    })),
                    style.api);
      EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
      EXPECT_EQ(result.response.text(), "modified");
      for (const auto& request : server.Requests()) {
        v1::EchoRequest sent;
        ASSERT_THAT(request.messages, SizeIs(1));
        ASSERT_TRUE(sent.ParseFromString(request.messages[0]));
        EXPECT_EQ(sent.text(), "modified");
      }
    }
  }
}

TEST(UserInterceptorsTest, GetSendMessageIsNeverOfAWrongType) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const Place place : kPlaces) {
      SCOPED_TRACE(CallStyleName(style) + " " + PlaceName(place));
      ScriptedGrpcServer server(TwoFailures());
      std::atomic<int> wrong{0};
      const UnaryResult result = CallUnary(
          ChannelWith(
              server, style, place,
              std::make_unique<RecordingFactory>(
                  nullptr,
                  [&wrong](ClientRpcInfo*, Batch* batch) {
                    if (!batch->QueryInterceptionHookPoint(
                            Hook::PRE_SEND_MESSAGE)) {
                      return;
                    }
                    const auto* message =
                        static_cast<const google::protobuf::MessageLite*>(
                            batch->GetSendMessage());
                    if (message != nullptr &&
                        message->GetTypeName() != "redial.v1.EchoRequest") {
                      ++wrong;
                    }
                    // Serialized, it is the request on each attempt.
                    grpc::ByteBuffer bytes = *batch->GetSerializedSendMessage();
                    v1::EchoRequest request;
                    if (!grpc::SerializationTraits<
                             v1::EchoRequest>::Deserialize(&bytes, &request)
                             .ok() ||
                        request.text() != "hello") {
                      ++wrong;
                    }
                  })),
          style.api);
      EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
      EXPECT_EQ(wrong, 0);
    }
  }
}

TEST(UserInterceptorsTest, FactoriesThatReturnNullChangeNothing) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const Place place : kPlaces) {
      SCOPED_TRACE(CallStyleName(style) + " " + PlaceName(place));
      ScriptedGrpcServer server(TwoFailures());
      HookLog log;
      std::vector<std::unique_ptr<UserFactory>> users;
      for (int i = 0; i < 2; ++i) {
        users.push_back(std::make_unique<FunctionFactory>(
            [](ClientRpcInfo*) { return nullptr; }));
        users.push_back(std::make_unique<RecordingFactory>(&log));
      }
      const UnaryResult result = CallUnary(
          ChannelWith(server, style, place, std::move(users)), style.api);
      EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
      EXPECT_EQ(result.response.text(), "hello");
      EXPECT_THAT(server.Requests(), SizeIs(3));
      EXPECT_EQ(log.Count(Hook::POST_RECV_STATUS),
                place == Place::kPerCall ? 2 : 6);
    }
  }
}

// Calls on another channel, made and not awaited, and how they ended.
class SideCalls {
 public:
  explicit SideCalls(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::Echo::NewStub(channel)) {}

  void Make() {
    struct Call {
      grpc::ClientContext context;
      v1::EchoRequest request;
      v1::EchoResponse response;
      std::promise<bool> good;
    };
    auto call = std::make_shared<Call>();
    {
      const std::lock_guard<std::mutex> lock(mu_);
      good_.push_back(call->good.get_future());
    }
    stub_->async()->Unary(
        &call->context, &call->request, &call->response,
        [call](grpc::Status status) { call->good.set_value(status.ok()); });
  }

  int AwaitGood() {
    const std::lock_guard<std::mutex> lock(mu_);
    int good = 0;
    for (std::future<bool>& one : good_) good += one.get();
    return good;
  }

 private:
  const std::unique_ptr<v1::Echo::Stub> stub_;
  std::mutex mu_;
  std::vector<std::future<bool>> good_;
};

// While redial is creating an attempt.
TEST(UserInterceptorsTest, AFactoryMayMakeCallsOfItsOwn) {
  ScriptedGrpcServer tokens(FailsFirstAttempts, false);
  const auto token_channel =
      CreateChannel(tokens.target(), grpc::InsecureChannelCredentials(),
                    MakePolicyTable({}), TestChannelOptions());
  for (const CallStyle& style : AllCallStyles()) {
    for (const Place place : {Place::kPerCall, Place::kPerAttempt}) {
      SCOPED_TRACE(CallStyleName(style) + " " + PlaceName(place));
      ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
      SideCalls side(token_channel);
      const UnaryResult result = CallUnary(
          ChannelWith(
              server, style, place,
              std::make_unique<FunctionFactory>(
                  [&side](ClientRpcInfo*) -> grpc::experimental::Interceptor* {
                    side.Make();
                    return nullptr;
                  })),
          style.api);
      EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
      EXPECT_THAT(server.Requests(), SizeIs(2));
      // gRPC makes the interceptors of the application's own call, too, where
      // that is never sent; they see nothing then.
      const bool owned = OwnsFirstAttempt(style.mode);
      EXPECT_EQ(side.AwaitGood(), place == Place::kPerCall ? 1 : owned ? 3 : 2);
    }
  }
}

}  // namespace
}  // namespace redial
