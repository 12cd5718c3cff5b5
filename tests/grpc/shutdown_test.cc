// The end: of stacks, channels, contexts and processes, with calls open.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/interceptor_stack.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

constexpr DriverMode kModes[] = {DriverMode::kNativeFirst,
                                 DriverMode::kAlwaysOwned};

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

// Says when a wait has begun.
class WaitObserver final : public CallObserver {
 public:
  void OnRetryScheduled(const CallInfo&, const RetryScheduled&) override {
    const std::lock_guard<std::mutex> lock(mu_);
    ++waits_;
    changed_.notify_all();
  }
  bool AwaitWaits(int count) {
    std::unique_lock<std::mutex> lock(mu_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return waits_ >= count; });
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  int waits_ = 0;
};

EchoPolicy LongWaits() {
  EchoPolicy policy;
  policy.backoff = absl::Seconds(15);
  return policy;
}

std::unique_ptr<InterceptorStack> NewStack(
    const ScriptedGrpcServer& server, DriverMode mode, const EchoPolicy& policy,
    std::shared_ptr<CallObserver> observer = nullptr) {
  ChannelOptions options = TestChannelOptions(mode);
  options.observer = std::move(observer);
  return std::make_unique<InterceptorStack>(MakePolicyTable(policy),
                                            server.target(), options);
}

std::shared_ptr<grpc::Channel> ChannelOf(InterceptorStack& stack) {
  return stack.CreateChannel(grpc::InsecureChannelCredentials());
}

TEST(ShutdownTest, EndsWaitsAtOnceWithTheirLastFailure) {
  for (const bool drain : {true, false}) {
    for (const CallStyle& style : AllCallStyles()) {
      SCOPED_TRACE(CallStyleName(style) + (drain ? " drain" : " shutdown"));
      ScriptedGrpcServer server({Unavailable()});
      const auto observer = std::make_shared<WaitObserver>();
      const auto stack = NewStack(server, style.mode, LongWaits(), observer);
      const auto channel = ChannelOf(*stack);
      auto call = std::async(std::launch::async,
                             [&] { return CallUnary(channel, style.api); });
      ASSERT_TRUE(observer->AwaitWaits(1));
      if (drain) {
        stack->Drain();
      } else {
        stack->Shutdown();
      }
      EXPECT_TRUE(stack->AwaitIdle(absl::Seconds(10)));
      const UnaryResult result = call.get();
      EXPECT_THAT(result.status,
                  StatusIs(grpc::StatusCode::UNAVAILABLE, "not yet"));
      EXPECT_THAT(result.report,
                  AllOf(Attempts(1), StoppedBecause(StopReason::kShutdown)));
      EXPECT_THAT(result.elapsed, Lt(absl::Seconds(10)));
      EXPECT_THAT(server.Requests(), SizeIs(1));
    }
  }
}

TEST(ShutdownTest, NewCallsAreRefused) {
  for (const bool with_policy : {true, false}) {
    for (const CallStyle& style : AllCallStyles()) {
      SCOPED_TRACE(CallStyleName(style));
      ScriptedGrpcServer server({Answer::Ok()});
      InterceptorStack stack(
          with_policy ? MakePolicyTable({}) : std::make_shared<PolicyTable>(),
          server.target(), TestChannelOptions(style.mode));
      const auto channel = ChannelOf(stack);
      stack.Drain();
      const UnaryResult result = CallUnary(channel, style.api);
      EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE,
                                          HasSubstr("shut down")));
      EXPECT_THAT(result.report,
                  AllOf(Attempts(0), StoppedBecause(StopReason::kShutdown)));
      EXPECT_THAT(server.Requests(), IsEmpty());
      EXPECT_TRUE(stack.AwaitIdle(absl::Seconds(10)));
    }
  }
}

TEST(ShutdownTest, ADrainLetsAttemptsInFlightFinish) {
  for (const CallStyle& style : AllCallStyles()) {
    for (const bool well : {true, false}) {
      SCOPED_TRACE(CallStyleName(style) + (well ? " OK" : " failing"));
      ScriptedGrpcServer server(
          {(well ? Answer::Ok() : Unavailable()).After(absl::Milliseconds(60)),
           Answer::Ok()});
      const auto stack = NewStack(server, style.mode, {});
      const auto channel = ChannelOf(*stack);
      auto call = std::async(std::launch::async,
                             [&] { return CallUnary(channel, style.api); });
      ASSERT_TRUE(server.WaitForRequests(1));
      stack->Drain();
      const UnaryResult result = call.get();
      EXPECT_EQ(result.status.ok(), well);
      EXPECT_THAT(
          result.report,
          AllOf(Attempts(1), StoppedBecause(well ? StopReason::kSuccess
                                                 : StopReason::kShutdown)));
      EXPECT_TRUE(stack->AwaitIdle(absl::Seconds(10)));
      EXPECT_THAT(server.Requests(), SizeIs(1));
    }
  }
}

TEST(ShutdownTest, CancelsAttemptsThatRedialMade) {
  for (const CallStyle& style : AllCallStyles()) {
    const bool native = !OwnsFirstAttempt(style.mode);
    for (const bool drained_before : {true, false}) {
      SCOPED_TRACE(CallStyleName(style) +
                   (drained_before ? " after a drain" : ""));
      std::vector<Answer> answers(native ? 1 : 0, Unavailable());
      answers.push_back(Answer::Hang());
      ScriptedGrpcServer server(answers);
      const auto stack = NewStack(server, style.mode, {});
      const auto channel = ChannelOf(*stack);
      auto call = std::async(std::launch::async,
                             [&] { return CallUnary(channel, style.api); });
      ASSERT_TRUE(server.WaitForRequests(answers.size()));
      if (drained_before) {
        stack->Drain();
        EXPECT_FALSE(stack->AwaitIdle(absl::Milliseconds(20)));
      }
      stack->Shutdown();
      EXPECT_TRUE(stack->AwaitIdle(absl::Seconds(10)));
      const UnaryResult result = call.get();
      EXPECT_FALSE(result.status.ok());
      EXPECT_THAT(result.report, StoppedBecause(StopReason::kShutdown));
      EXPECT_THAT(result.elapsed, Lt(absl::Seconds(10)));
      EXPECT_TRUE(server.WaitUntilIdle());
      EXPECT_TRUE(server.Requests().back().cancelled);
    }
  }
}

TEST(ShutdownTest, AwaitIdleEndsWithTheLastCallAlsoOfAnOpenStack) {
  for (const DriverMode mode : kModes) {
    ScriptedGrpcServer server({Answer::Ok().After(absl::Milliseconds(100))});
    const auto stack = NewStack(server, mode, {});
    const auto channel = ChannelOf(*stack);
    EXPECT_TRUE(stack->AwaitIdle(absl::ZeroDuration()));
    auto call = std::async(std::launch::async,
                           [&] { return CallUnary(channel, UnaryApi::kSync); });
    ASSERT_TRUE(server.WaitForRequests(1));
    const absl::Time start = absl::Now();
    EXPECT_FALSE(stack->AwaitIdle(absl::Milliseconds(10)));
    EXPECT_TRUE(stack->AwaitIdle(absl::InfiniteDuration()));
    EXPECT_THAT(absl::Now() - start, Lt(absl::Seconds(5)));
    call.get();
  }
}

// A call that the application cannot wait for: it lives on the heap.
struct DetachedCall {
  grpc::ClientContext context;
  v1::EchoRequest request;
  v1::EchoResponse response;
  std::promise<grpc::Status> done;

  void Start(const std::shared_ptr<grpc::Channel>& channel) {
    v1::Echo::NewStub(channel)->async()->Unary(
        &context, &request, &response,
        [this](grpc::Status status) { done.set_value(std::move(status)); });
  }
};

// Channel, stack and policy go in any order while a call waits.
TEST(ShutdownTest, EverythingMayBeDestroyedInAnyOrderWhileACallWaits) {
  for (const DriverMode mode : kModes) {
    std::array<int, 3> order = {0, 1, 2};
    do {
      ScriptedGrpcServer server({Unavailable()});
      const auto observer = std::make_shared<WaitObserver>();
      auto policy = std::make_shared<LivePolicy>(MakePolicyTable(LongWaits()));
      ChannelOptions options = TestChannelOptions(mode);
      options.observer = observer;
      auto stack =
          std::make_unique<InterceptorStack>(policy, server.target(), options);
      auto channel = ChannelOf(*stack);
      DetachedCall call;
      call.Start(channel);
      ASSERT_TRUE(observer->AwaitWaits(1));
      for (const int what : order) {
        if (what == 0) channel.reset();
        if (what == 1) stack.reset();
        if (what == 2) policy.reset();
      }
      call.context.TryCancel();
      EXPECT_THAT(call.done.get_future().get(),
                  StatusIs(grpc::StatusCode::CANCELLED));
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// Nothing of redial's holds the channel once the caller knows: gRPC cannot
// destroy a channel on its own threads.
TEST(ShutdownTest, AChannelMayBeDestroyedRightAfterItsLastCall) {
  ScriptedGrpcServer server(
      [](const ScriptedGrpcRequest& request) {
        return request.metadata.count("redial-previous-attempts") == 0
                   ? Unavailable()
                   : Answer::Ok();
      },
      false);
  EchoPolicy policy;
  policy.backoff = absl::Microseconds(100);
  for (int round = 0; round < 40; ++round) {
    for (const CallStyle& style : AllCallStyles()) {
      const UnaryResult result = CallUnary(
          CreateChannel(server.target(), grpc::InsecureChannelCredentials(),
                        MakePolicyTable(policy),
                        TestChannelOptions(style.mode)),
          style.api);
      ASSERT_THAT(result.status, IsOk()) << CallStyleName(style);
    }
  }
}

// A stub may be dropped without being asked for its answer.
TEST(ShutdownTest, ACallThatIsNeverFinishedDoesNotStayOpen) {
  for (const DriverMode mode : kModes) {
    for (const bool cancel : {true, false}) {
      SCOPED_TRACE(cancel ? "cancelled" : "dropped");
      ScriptedGrpcServer server({Answer::Ok()});
      const auto stack = NewStack(server, mode, {});
      const auto stub = v1::Echo::NewStub(ChannelOf(*stack));
      for (int i = 0; i < 20; ++i) {
        grpc::CompletionQueue queue;
        {
          grpc::ClientContext context;
          auto reader = stub->AsyncUnary(&context, v1::EchoRequest(), &queue);
          reader->ReadInitialMetadata(&queue);
          void* tag = nullptr;
          bool ok = false;
          EXPECT_TRUE(queue.Next(&tag, &ok));
          if (cancel) context.TryCancel();
        }
        queue.Shutdown();
      }
      EXPECT_TRUE(stack->AwaitIdle(absl::Seconds(5)));
      stack->Shutdown();
    }
  }
}

TEST(ShutdownTest, RacesWithCalls) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Unavailable()});
    EchoPolicy policy;
    policy.max_attempts = 1000;
    policy.backoff = absl::Milliseconds(1);
    const auto stack = NewStack(server, style.mode, policy);
    const auto channel = ChannelOf(*stack);
    std::vector<std::thread> callers;
    for (int i = 0; i < 6; ++i) {
      callers.emplace_back([&] {
        while (true) {
          const UnaryResult result = CallUnary(channel, style.api);
          EXPECT_FALSE(result.status.ok());
          if (result.report.attempts.empty()) return;
        }
      });
    }
    ASSERT_TRUE(server.WaitForRequests(20));
    stack->Shutdown();
    EXPECT_TRUE(stack->AwaitIdle(absl::Seconds(10)));
    for (std::thread& caller : callers) caller.join();
    EXPECT_TRUE(stack->AwaitIdle(absl::Seconds(10)));
  }
}

// Starts a call, and ends the process while it waits.
[[noreturn]] void ExitWhileACallWaits(DriverMode mode) {
  ScriptedGrpcServer server({Unavailable()});
  const auto observer = std::make_shared<WaitObserver>();
  const auto stack = NewStack(server, mode, LongWaits(), observer);
  // Static, as in a program that keeps its client for ever.
  static const auto* const channel =
      new std::shared_ptr<grpc::Channel>(ChannelOf(*stack));
  static auto* const call = new DetachedCall;
  call->Start(*channel);
  if (!observer->AwaitWaits(1)) std::exit(3);
  std::exit(0);
}

TEST(ShutdownDeathTest, AProcessMayExitWhileACallWaits) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const DriverMode mode : kModes) {
    const absl::Time start = absl::Now();
    EXPECT_EXIT(ExitWhileACallWaits(mode), ::testing::ExitedWithCode(0), "");
    EXPECT_THAT(absl::Now() - start, Lt(absl::Seconds(10)));
  }
}

}  // namespace
}  // namespace redial
