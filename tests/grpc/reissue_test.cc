// A user's interceptor that makes the call itself.
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/hook_recorder.h"
#include "tests/grpc/interceptor_places.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;
using Batch = grpc::experimental::InterceptorBatchMethods;
using Hook = grpc::experimental::InterceptionHookPoints;
using grpc::experimental::ClientRpcInfo;

std::vector<Answer> TwoFailures() {
  const Answer failure =
      Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
  return {failure, failure, Answer::Ok()};
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
    v1::EchoRequest* const request = new v1::EchoRequest;
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

TEST(ReissueTest, OneThatMakesTheCallItselfDoesNotRecurse) {
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

}  // namespace
}  // namespace redial
