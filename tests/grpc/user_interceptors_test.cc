// The application's own interceptors, around redial and behind it.
#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/interceptor_stack.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/hook_recorder.h"
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

// The places where a user's interceptor may stand.
enum class Place { kPerCall, kPerAttempt, kBehindFactories };
constexpr Place kPlaces[] = {Place::kPerCall, Place::kPerAttempt,
                             Place::kBehindFactories};
const char* PlaceName(Place place) {
  switch (place) {
    case Place::kPerCall:
      return "per call";
    case Place::kPerAttempt:
      return "per attempt";
    case Place::kBehindFactories:
      return "behind Factories()";
  }
  return "";
}

using UserFactory = InterceptorStack::Factory;

std::shared_ptr<grpc::Channel> ChannelWith(
    const ScriptedGrpcServer& server, const CallStyle& style, Place place,
    std::vector<std::unique_ptr<UserFactory>> users,
    const EchoPolicy& policy = {}) {
  InterceptorStack stack(MakePolicyTable(policy), server.target(),
                         TestChannelOptions(style.mode));
  for (auto& user : users) {
    if (place == Place::kPerCall) stack.AddPerCall(std::move(user));
    if (place == Place::kPerAttempt) stack.AddPerAttempt(std::move(user));
  }
  auto factories = stack.Factories();
  if (place == Place::kBehindFactories) {
    for (auto& user : users) factories.push_back(std::move(user));
  }
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      server.target(), grpc::InsecureChannelCredentials(),
      stack.ChannelArguments(), std::move(factories));
}

std::shared_ptr<grpc::Channel> ChannelWith(const ScriptedGrpcServer& server,
                                           const CallStyle& style, Place place,
                                           std::unique_ptr<UserFactory> user,
                                           const EchoPolicy& policy = {}) {
  std::vector<std::unique_ptr<UserFactory>> users;
  users.push_back(std::move(user));
  return ChannelWith(server, style, place, std::move(users), policy);
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

// Makes the call itself, through what stands behind it.
class ReissuingInterceptor final : public grpc::experimental::Interceptor {
 public:
  ReissuingInterceptor(ClientRpcInfo* info, std::atomic<int>* issued)
      : info_(info), issued_(issued) {}

  void Intercept(Batch* batch) override {
    if (batch->QueryInterceptionHookPoint(Hook::PRE_SEND_CANCEL)) {
      if (context_ != nullptr) context_->TryCancel();
      return;
    }
    if (batch->QueryInterceptionHookPoint(Hook::PRE_SEND_MESSAGE)) {
      request_ = *batch->GetSerializedSendMessage();
    }
    if (batch->QueryInterceptionHookPoint(Hook::PRE_SEND_INITIAL_METADATA)) {
      ASSERT_LT(++*issued_, 50) << "endless recursion";
      metadata_ = *batch->GetSendInitialMetadata();
      channel_ = batch->GetInterceptedChannel();
      return batch->Hijack();
    }
    if (!batch->QueryInterceptionHookPoint(Hook::PRE_RECV_STATUS)) {
      return batch->Proceed();
    }
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(info_->client_context()->deadline());
    for (const auto& [name, value] : metadata_) {
      context_->AddMetadata(name, value);
    }
    void* const response = batch->GetRecvMessage();
    method_ = info_->method();
    // A protobuf call, as the one that it stands for.
    static const v1::EchoRequest* const kRequest = new v1::EchoRequest;
    v1::EchoRequest* const request = new v1::EchoRequest;
    (void)kRequest;
    grpc::ByteBuffer bytes = request_;
    grpc::SerializationTraits<v1::EchoRequest>::Deserialize(&bytes, request);
    grpc::TemplatedGenericStub<v1::EchoRequest, google::protobuf::MessageLite>
        stub(std::shared_ptr<grpc::ChannelInterface>(std::move(channel_)));
    stub.UnaryCall(context_.get(), method_, grpc::StubOptions(), request,
                   static_cast<google::protobuf::MessageLite*>(response),
                   [this, batch, request](grpc::Status status) {
                     delete request;
                     *batch->GetRecvStatus() = status;
                     *batch->GetRecvTrailingMetadata() =
                         context_->GetServerTrailingMetadata();
                     if (!status.ok()) batch->FailHijackedRecvMessage();
                     batch->Proceed();
                   });
  }

 private:
  ClientRpcInfo* const info_;
  std::atomic<int>* const issued_;
  std::unique_ptr<grpc::ChannelInterface> channel_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::string method_;
  grpc::ByteBuffer request_;
  std::multimap<std::string, std::string> metadata_;
};

TEST(UserInterceptorsTest, OneThatMakesTheCallItselfDoesNotRecurse) {
  for (const CallStyle& style : AllCallStyles()) {
    // The double's own limit: it answers the batch with the status only.
    if (style.api == UnaryApi::kReactor ||
        style.api == UnaryApi::kCompletionQueueInitial) {
      continue;
    }
    for (const Place place : kPlaces) {
      for (const bool null_in_front : {false, true}) {
        SCOPED_TRACE(CallStyleName(style) + " " + PlaceName(place) +
                     (null_in_front ? " behind a null" : ""));
        // gRPC itself counts positions wrongly behind a factory of the user's
        // own that returns null: only the stack can cure that.
        if (null_in_front && place == Place::kBehindFactories) continue;
        ScriptedGrpcServer server(TwoFailures());
        std::atomic<int> issued{0};
        std::vector<std::unique_ptr<UserFactory>> users;
        if (null_in_front) {
          users.push_back(std::make_unique<FunctionFactory>(
              [](ClientRpcInfo*) { return nullptr; }));
        }
        users.push_back(
            std::make_unique<FunctionFactory>([&issued](ClientRpcInfo* info) {
              return new ReissuingInterceptor(info, &issued);
            }));
        const UnaryResult result = CallUnary(
            ChannelWith(server, style, place, std::move(users)), style.api);
        EXPECT_THAT(result.status, IsOk()) << result.report.Summary();
        EXPECT_EQ(result.response.text(), "hello");
        EXPECT_THAT(server.Requests(), SizeIs(3));
        EXPECT_EQ(issued, place == Place::kPerCall ? 1 : 3);
      }
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

TEST(UserInterceptorsTest, TwoLayersOnOneChannelDoNotMultiply) {
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
TEST(UserInterceptorsTest, ANewChannelAtAnOldAddressIsNoSecondLayer) {
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

TEST(UserInterceptorsTest, AnOuterLayerWithoutAPolicyLeavesTheInnerOneToWork) {
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

TEST(UserInterceptorsTest, CoreRetriesArmedByTheApplicationDoNotMultiply) {
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
TEST(UserInterceptorsTest, CoreRetriesAreSeenLater) {
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
