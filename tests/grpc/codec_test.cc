// Response objects that are no protobuf message, or not the expected one.
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/response_codec.h"
#include "redial/grpc/scoped_call_options.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/unary_harness.h"

namespace redial {

// A message type of somebody else's library.
struct PlainText {
  std::string text;
};

}  // namespace redial

namespace grpc {

template <>
class SerializationTraits<redial::PlainText> {
 public:
  static Status Serialize(const redial::PlainText& message, ByteBuffer* bytes,
                          bool* own) {
    const Slice slice(message.text);
    *bytes = ByteBuffer(&slice, 1);
    *own = true;
    return Status();
  }
  static Status Deserialize(ByteBuffer* bytes, redial::PlainText* message) {
    std::vector<Slice> slices;
    bytes->Dump(&slices);
    message->text.clear();
    for (const Slice& slice : slices) {
      message->text.append(reinterpret_cast<const char*>(slice.begin()),
                           slice.size());
    }
    if (message->text == "unreadable") {
      return Status(StatusCode::INTERNAL, "unreadable");
    }
    return Status();
  }
};

}  // namespace grpc

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

constexpr char kMethod[] = "/redial.v1.Echo/Unary";

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

class PlainTextCodec final : public ResponseCodec {
 public:
  bool Recognizes(const void* response) const override {
    return response != nullptr;
  }
  grpc::Status Deserialize(grpc::ByteBuffer* bytes,
                           void* response) const override {
    return grpc::SerializationTraits<PlainText>::Deserialize(
        bytes, static_cast<PlainText*>(response));
  }
};

std::shared_ptr<grpc::Channel> ChannelTo(
    const ScriptedGrpcServer& server, DriverMode mode,
    std::shared_ptr<const ResponseCodec> codec) {
  ChannelOptions options = TestChannelOptions(mode);
  options.codec = std::move(codec);
  return CreateChannel(server.target(), grpc::InsecureChannelCredentials(),
                       MakePolicyTable({}), options);
}

enum class GenericApi { kCallback, kCompletionQueue, kCompletionQueueInitial };
constexpr GenericApi kApis[] = {GenericApi::kCallback,
                                GenericApi::kCompletionQueue,
                                GenericApi::kCompletionQueueInitial};
constexpr DriverMode kModes[] = {DriverMode::kNativeFirst,
                                 DriverMode::kAlwaysOwned};

template <typename Message>
grpc::Status CallGeneric(const std::shared_ptr<grpc::Channel>& channel,
                         GenericApi api, const Message& request,
                         Message* response, CallReport* report) {
  grpc::TemplatedGenericStub<Message, Message> stub(channel);
  grpc::ClientContext context;
  const ScopedCallOptions scoped(context, report);
  if (api == GenericApi::kCallback) {
    std::promise<grpc::Status> done;
    stub.UnaryCall(
        &context, kMethod, grpc::StubOptions(), &request, response,
        [&done](grpc::Status status) { done.set_value(std::move(status)); });
    return done.get_future().get();
  }
  grpc::CompletionQueue queue;
  grpc::Status status;
  void* tag = nullptr;
  bool ok = false;
  auto reader = stub.PrepareUnaryCall(&context, kMethod, request, &queue);
  reader->StartCall();
  if (api == GenericApi::kCompletionQueueInitial) {
    reader->ReadInitialMetadata(&tag);
    queue.Next(&tag, &ok);
  }
  reader->Finish(response, &status, &tag);
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return status;
}

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

std::string TextOf(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer copy(bytes);
  PlainText text;
  if (copy.Valid()) {
    grpc::SerializationTraits<PlainText>::Deserialize(&copy, &text);
  }
  return text.text;
}

TEST(CodecTest, AByteBufferOnAProtobufChannelIsCalledOnce) {
  for (const DriverMode mode : kModes) {
    for (const GenericApi api : kApis) {
      for (const bool prefilled : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << static_cast<int>(mode) << static_cast<int>(api)
                     << prefilled);
        // Owned, and asked for headers first, nobody knows the type in time.
        if (OwnsFirstAttempt(mode) &&
            api == GenericApi::kCompletionQueueInitial) {
          continue;
        }
        ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
        const auto channel = ChannelTo(server, mode, nullptr);
        grpc::ByteBuffer response;
        if (prefilled) response = Bytes(std::string(100, 'p'));
        CallReport report;
        EXPECT_THAT(
            CallGeneric(channel, api, Bytes("hello"), &response, &report),
            StatusIs(grpc::StatusCode::UNAVAILABLE));
        EXPECT_THAT(report,
                    AllOf(Attempts(1),
                          StoppedBecause(StopReason::kUnknownMessageType)));
        EXPECT_THAT(server.Requests(), SizeIs(1));
        // And one that goes well is like any other.
        EXPECT_THAT(
            CallGeneric(channel, api, Bytes("hello"), &response, &report),
            IsOk());
        EXPECT_EQ(TextOf(response), "hello");
      }
    }
  }
}

TEST(CodecTest, AnOwnedCallOfAnUnknownTypeThatWaitedForHeadersIsRefused) {
  ScriptedGrpcServer server({Answer::Ok()});
  grpc::ByteBuffer response;
  CallReport report;
  EXPECT_THAT(
      CallGeneric(ChannelTo(server, DriverMode::kAlwaysOwned, nullptr),
                  GenericApi::kCompletionQueueInitial, Bytes("hello"),
                  &response, &report),
      StatusIs(grpc::StatusCode::INTERNAL, ::testing::HasSubstr("codec")));
}

TEST(CodecTest, AByteBufferChannelRetries) {
  for (const DriverMode mode : kModes) {
    for (const GenericApi api : kApis) {
      for (const bool prefilled : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << static_cast<int>(mode) << static_cast<int>(api)
                     << prefilled);
        ScriptedGrpcServer server({Unavailable(), Unavailable(), Answer::Ok()});
        grpc::ByteBuffer response;
        if (prefilled) response = Bytes(std::string(100, 'p'));
        CallReport report;
        EXPECT_THAT(
            CallGeneric(ChannelTo(server, mode, ByteBufferResponseCodec()), api,
                        Bytes("hello"), &response, &report),
            IsOk());
        EXPECT_EQ(TextOf(response), "hello");
        EXPECT_THAT(report, Attempts(3));
        for (const auto& request : server.Requests()) {
          ASSERT_THAT(request.messages, SizeIs(1));
          EXPECT_EQ(request.messages[0], "hello");
        }
      }
    }
  }
}

TEST(CodecTest, ACodecOfOnesOwnRetries) {
  for (const DriverMode mode : kModes) {
    for (const GenericApi api : kApis) {
      SCOPED_TRACE(::testing::Message()
                   << static_cast<int>(mode) << static_cast<int>(api));
      ScriptedGrpcServer server({Unavailable(), Unavailable(), Answer::Ok()});
      PlainText response;
      CallReport report;
      EXPECT_THAT(CallGeneric(ChannelTo(server, mode,
                                        std::make_shared<PlainTextCodec>()),
                              api, PlainText{"hello"}, &response, &report),
                  IsOk());
      EXPECT_EQ(response.text, "hello");
      EXPECT_THAT(report, Attempts(3));
    }
  }
}

TEST(CodecTest, AnAnswerThatTheCodecRefusesEndsTheCallCleanly) {
  for (const DriverMode mode : kModes) {
    for (const GenericApi api : kApis) {
      Answer bad = Answer::Ok();
      bad.body = "unreadable";
      ScriptedGrpcServer server({Unavailable(), bad});
      PlainText response;
      CallReport report;
      // As gRPC itself does it: the status is the server's.
      CallGeneric(ChannelTo(server, mode, std::make_shared<PlainTextCodec>()),
                  api, PlainText{"hello"}, &response, &report);
      EXPECT_THAT(report, Attempts(2));
    }
  }
}

TEST(CodecTest, AProtobufStubOnAByteBufferChannelIsCalledOnce) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    if (OwnsFirstAttempt(style.mode) &&
        style.api == UnaryApi::kCompletionQueueInitial) {
      continue;
    }
    // Owned, the two batches of a reactor come apart as well.
    ScriptedGrpcServer server({Unavailable(), Answer::Ok()});
    const auto channel =
        ChannelTo(server, style.mode, ByteBufferResponseCodec());
    const UnaryResult result = CallUnary(channel, style.api);
    if (OwnsFirstAttempt(style.mode) && style.api == UnaryApi::kReactor) {
      EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::INTERNAL));
      continue;
    }
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
    EXPECT_THAT(
        result.report,
        AllOf(Attempts(1), StoppedBecause(StopReason::kUnknownMessageType)));
    EXPECT_EQ(CallUnary(channel, style.api).response.text(), "hello");
  }
}

TEST(CodecTest, Recognizes) {
  const v1::EchoResponse message;
  const grpc::ByteBuffer empty;
  const grpc::ByteBuffer full = Bytes("x");
  EXPECT_TRUE(ProtobufResponseCodec()->Recognizes(&message));
  EXPECT_FALSE(ProtobufResponseCodec()->Recognizes(&empty));
  EXPECT_FALSE(ProtobufResponseCodec()->Recognizes(&full));
  EXPECT_FALSE(ProtobufResponseCodec()->Recognizes(nullptr));
  EXPECT_FALSE(ByteBufferResponseCodec()->Recognizes(&message));
  EXPECT_TRUE(ByteBufferResponseCodec()->Recognizes(&empty));
  EXPECT_TRUE(ByteBufferResponseCodec()->Recognizes(&full));
  EXPECT_FALSE(ByteBufferResponseCodec()->Recognizes(nullptr));
}

}  // namespace
}  // namespace redial
