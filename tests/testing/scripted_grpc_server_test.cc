#include "redial/testing/scripted_grpc_server.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/redial/v1/echo.grpc.pb.h"
#include "proto/redial/v1/echo.pb.h"
#include "redial/core/error_details.h"
#include "redial/testing/matchers.h"

namespace redial {
namespace {

using ::redial::v1::Echo;
using ::redial::v1::EchoRequest;
using ::redial::v1::EchoResponse;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

std::unique_ptr<Echo::Stub> StubFor(const ScriptedGrpcServer& server) {
  EXPECT_THAT(server.status(), IsOk());
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return Echo::NewStub(grpc::CreateCustomChannel(
      server.target(), grpc::InsecureChannelCredentials(), arguments));
}

struct Result {
  grpc::Status status;
  EchoResponse response;
  std::unique_ptr<grpc::ClientContext> context =
      std::make_unique<grpc::ClientContext>();
};

Result Call(Echo::Stub& stub, const std::string& text = "hello",
            absl::Duration timeout = absl::Seconds(10)) {
  Result result;
  EchoRequest request;
  request.set_text(text);
  result.context->set_deadline(std::chrono::system_clock::now() +
                               absl::ToChronoMilliseconds(timeout));
  result.status = stub.Unary(result.context.get(), request, &result.response);
  return result;
}

TEST(ScriptedGrpcServerTest, AnswersInOrderAndRepeatsTheLast) {
  ScriptedGrpcServer server(
      {ScriptedGrpcAnswer::Error(grpc::StatusCode::UNAVAILABLE, "warming up"),
       ScriptedGrpcAnswer::Ok()});
  auto stub = StubFor(server);
  EXPECT_THAT(Call(*stub).status,
              StatusIs(grpc::StatusCode::UNAVAILABLE, "warming up"));
  for (int i = 0; i < 2; ++i) {
    const Result result = Call(*stub, "give this back");
    EXPECT_THAT(result.status, IsOk());
    EXPECT_EQ(result.response.text(), "give this back");
  }
  EXPECT_THAT(server.Requests(), SizeIs(3));
}

TEST(ScriptedGrpcServerTest, SendsMetadataDetailsAndAGivenBody) {
  ScriptedGrpcAnswer error =
      ScriptedGrpcAnswer::Error(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy")
          .WithTrailer("x-zone", "b")
          .WithTrailer("x-raw-bin", std::string("\0\xff", 2))
          .WithTrailer("x-illegal", "no\nline breaks")
          .WithRetryInfo(absl::Milliseconds(250));
  ScriptedGrpcAnswer ok;
  EchoResponse body;
  body.set_text("given");
  ok.body = body.SerializeAsString();
  ok.initial_metadata.emplace("x-early", "1");
  ScriptedGrpcServer server({error, ok});
  auto stub = StubFor(server);

  const Result failed = Call(*stub);
  EXPECT_THAT(failed.status,
              StatusIs(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy"));
  EXPECT_EQ(ParseErrorDetails(failed.status.error_details()).retry_delay,
            absl::Milliseconds(250));
  EXPECT_THAT(failed.context->GetServerTrailingMetadata(),
              AllOf(Contains(Pair("x-zone", "b")),
                    Contains(Pair("x-raw-bin", grpc::string_ref("\0\xff", 2))),
                    Not(Contains(Pair("x-illegal", ::testing::_)))));

  const Result answered = Call(*stub);
  EXPECT_EQ(answered.response.text(), "given");
  EXPECT_THAT(answered.context->GetServerInitialMetadata(),
              Contains(Pair("x-early", "1")));
}

TEST(ScriptedGrpcServerTest, AnErrorIsTrailersOnlyUnlessHeadersAreAsked) {
  ScriptedGrpcAnswer plain =
      ScriptedGrpcAnswer::Error(grpc::StatusCode::UNAVAILABLE);
  ScriptedGrpcAnswer with_headers = plain;
  with_headers.initial_metadata.emplace("x-early", "1");
  ScriptedGrpcAnswer bare_headers = plain;
  bare_headers.send_headers = true;
  ScriptedGrpcServer server({plain, with_headers, bare_headers});
  auto stub = StubFor(server);
  for (bool headers : {false, true, true}) {
    // A reactor learns of the headers whether or not there was metadata.
    struct Reactor final : grpc::ClientUnaryReactor {
      void OnReadInitialMetadataDone(bool ok) override { headers = ok; }
      void OnDone(const grpc::Status&) override { done.set_value(); }
      bool headers = false;
      std::promise<void> done;
    } reactor;
    grpc::ClientContext context;
    EchoRequest request;
    EchoResponse response;
    stub->async()->Unary(&context, &request, &response, &reactor);
    reactor.StartCall();
    reactor.done.get_future().wait();
    EXPECT_EQ(reactor.headers, headers);
  }
}

TEST(ScriptedGrpcServerTest, RecordsWhatArrived) {
  ScriptedGrpcServer server({});
  auto stub = StubFor(server);
  grpc::ClientContext context;
  context.AddMetadata("x-team", "blue");
  context.AddMetadata("x-team", "green");
  context.AddMetadata("x-raw-bin", std::string("\0\x01", 2));
  EchoRequest request;
  request.set_text("hi");
  EchoResponse response;
  const Instant before = ScriptedGrpcServer::Now();
  EXPECT_THAT(stub->UnarySafe(&context, request, &response), IsOk());
  Call(*stub, "second", absl::Seconds(7));

  const std::vector<ScriptedGrpcRequest> requests = server.Requests();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].method, "/redial.v1.Echo/UnarySafe");
  EXPECT_THAT(
      requests[0].metadata,
      AllOf(Contains(Pair("x-team", "blue")), Contains(Pair("x-team", "green")),
            Contains(Pair("x-raw-bin", std::string("\0\x01", 2)))));
  EXPECT_THAT(requests[0].messages,
              ::testing::ElementsAre(request.SerializeAsString()));
  EXPECT_GE(requests[0].arrival, before);
  EXPECT_LE(requests[0].arrival, requests[1].arrival);
  EXPECT_EQ(requests[0].remaining, absl::InfiniteDuration());
  // The wire rounds up.
  EXPECT_THAT(requests[1].remaining,
              AllOf(Ge(absl::Seconds(2)), Le(absl::Milliseconds(7100))));
  EXPECT_FALSE(requests[0].cancelled);
}

TEST(ScriptedGrpcServerTest, DelaysAnAnswer) {
  ScriptedGrpcServer server(
      {ScriptedGrpcAnswer::Ok().After(absl::Milliseconds(60))});
  auto stub = StubFor(server);
  const Instant before = ScriptedGrpcServer::Now();
  EXPECT_THAT(Call(*stub).status, IsOk());
  EXPECT_GE(ScriptedGrpcServer::Now() - before, absl::Milliseconds(60));
}

TEST(ScriptedGrpcServerTest, NotesThatAHangingOrSlowCallWasGivenUp) {
  ScriptedGrpcServer server({ScriptedGrpcAnswer::Hang(),
                             ScriptedGrpcAnswer::Ok().After(absl::Hours(1)),
                             ScriptedGrpcAnswer::Hang()});
  auto stub = StubFor(server);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Call(*stub, "x", absl::Milliseconds(100)).status,
                StatusIs(grpc::StatusCode::DEADLINE_EXCEEDED));
  }
  grpc::ClientContext context;
  std::thread canceller([&] {
    EXPECT_TRUE(server.WaitForRequests(3));
    context.TryCancel();
  });
  EchoRequest request;
  EchoResponse response;
  EXPECT_THAT(stub->Unary(&context, request, &response),
              StatusIs(grpc::StatusCode::CANCELLED));
  canceller.join();
  EXPECT_TRUE(server.WaitUntilIdle());
  for (const ScriptedGrpcRequest& seen : server.Requests()) {
    EXPECT_TRUE(seen.cancelled);
  }
}

TEST(ScriptedGrpcServerTest, DropsTheConnectionAndServesTheNextOne) {
  ScriptedGrpcServer server({ScriptedGrpcAnswer::Ok(),
                             ScriptedGrpcAnswer::Drop(),
                             ScriptedGrpcAnswer::Ok()});
  auto stub = StubFor(server);
  EXPECT_THAT(Call(*stub).status, IsOk());
  EXPECT_THAT(Call(*stub).status, StatusIs(grpc::StatusCode::UNAVAILABLE));
  // A client that comes back at once may still try the dead connection.
  grpc::Status status(grpc::StatusCode::UNAVAILABLE, "not called yet");
  for (int i = 0; i < 100 && !status.ok(); ++i) status = Call(*stub).status;
  EXPECT_THAT(status, IsOk());
  EXPECT_TRUE(server.WaitUntilIdle());
  const std::vector<ScriptedGrpcRequest> requests = server.Requests();
  ASSERT_THAT(requests, SizeIs(3));
  // The client did not cancel: it was left alone.
  EXPECT_FALSE(requests[1].cancelled);
}

TEST(ScriptedGrpcServerTest, ServesStreams) {
  ScriptedGrpcAnswer three;
  three.messages = 3;
  ScriptedGrpcAnswer two_and_an_error =
      ScriptedGrpcAnswer::Error(grpc::StatusCode::ABORTED);
  two_and_an_error.messages = 2;
  ScriptedGrpcServer server({three, two_and_an_error, ScriptedGrpcAnswer::Ok(),
                             ScriptedGrpcAnswer::Ok()});
  auto stub = StubFor(server);
  EchoRequest request;
  request.set_text("s");
  EchoResponse response;
  for (int messages : {3, 2}) {
    grpc::ClientContext context;
    auto reader = stub->ServerStream(&context, request);
    int received = 0;
    while (reader->Read(&response)) ++received;
    EXPECT_EQ(received, messages);
    EXPECT_EQ(reader->Finish().ok(), messages == 3);
  }
  {
    grpc::ClientContext context;
    auto writer = stub->ClientStream(&context, &response);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(writer->Write(request));
    EXPECT_TRUE(writer->WritesDone());
    EXPECT_THAT(writer->Finish(), IsOk());
  }
  {
    grpc::ClientContext context;
    auto stream = stub->Bidi(&context);
    EXPECT_TRUE(stream->Write(request));
    EXPECT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.text(), "s");
    EXPECT_TRUE(stream->WritesDone());
    EXPECT_THAT(stream->Finish(), IsOk());
  }
  EXPECT_TRUE(server.WaitUntilIdle());
  EXPECT_THAT(server.Requests()[2].messages, SizeIs(3));
}

TEST(ScriptedGrpcServerTest, AnswersMayDependOnTheRequest) {
  ScriptedGrpcServer server(
      [](const ScriptedGrpcRequest& request) {
        return request.metadata.count("redial-previous-attempts") != 0
                   ? ScriptedGrpcAnswer::Ok()
                   : ScriptedGrpcAnswer::Error(grpc::StatusCode::ABORTED);
      },
      /*may_drop=*/false);
  auto stub = StubFor(server);
  EXPECT_THAT(Call(*stub).status, StatusIs(grpc::StatusCode::ABORTED));
  grpc::ClientContext context;
  context.AddMetadata("redial-previous-attempts", "1");
  EchoRequest request;
  EchoResponse response;
  EXPECT_THAT(stub->Unary(&context, request, &response), IsOk());
}

TEST(ScriptedGrpcServerTest, ShutsDownUnderHangingAndRacingCalls) {
  for (int round = 0; round < 20; ++round) {
    auto server =
        std::make_unique<ScriptedGrpcServer>(std::vector<ScriptedGrpcAnswer>{
            ScriptedGrpcAnswer::Hang(),
            ScriptedGrpcAnswer::Ok().After(absl::Milliseconds(1)),
            ScriptedGrpcAnswer::Ok().After(absl::Hours(1)),
            ScriptedGrpcAnswer::Drop(), ScriptedGrpcAnswer::Ok()});
    auto stub = StubFor(*server);
    std::vector<std::thread> callers;
    for (int i = 0; i < 6; ++i) {
      callers.emplace_back([&] { Call(*stub, "x", absl::Seconds(30)); });
    }
    EXPECT_TRUE(server->WaitForRequests(4));
    server.reset();
    for (std::thread& caller : callers) caller.join();
  }
}

}  // namespace
}  // namespace redial
