// What calls share: a policy that changes, throttles, budgets, operations.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/operation.h"
#include "redial/core/random_source.h"
#include "redial/core/retry_budget.h"
#include "redial/grpc/channel.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using Answer = ScriptedGrpcAnswer;

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

std::shared_ptr<grpc::Channel> ChannelTo(
    const ScriptedGrpcServer& server, DriverMode mode,
    std::shared_ptr<const PolicyTable> table) {
  return CreateChannel(server.target(), grpc::InsecureChannelCredentials(),
                       std::move(table), TestChannelOptions(mode));
}

TEST(SharedStateTest, ANewPolicyHoldsForTheNextCall) {
  ScriptedGrpcServer server({Unavailable()});
  const auto live = std::make_shared<LivePolicy>(MakePolicyTable({}));
  const auto channel =
      CreateChannel(server.target(), grpc::InsecureChannelCredentials(), live,
                    TestChannelOptions());
  EchoPolicy two;
  two.max_attempts = 2;
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).report, Attempts(3));
  live->Store(MakePolicyTable(two));
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).report, Attempts(2));
  live->Store(nullptr);
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).report,
              AllOf(Attempts(1), StoppedBecause(StopReason::kNoPolicy)));
  live->Store(MakePolicyTable(two));
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).report, Attempts(2));
}

TEST(SharedStateTest, ACallInFlightKeepsThePolicyItBeganWith) {
  const auto live = std::make_shared<LivePolicy>(MakePolicyTable({}));
  std::atomic<int> seen{0};
  ScriptedGrpcServer server(
      [&](const ScriptedGrpcRequest&) {
        if (++seen == 1) live->Store(nullptr);
        return Unavailable();
      },
      false);
  const auto channel =
      CreateChannel(server.target(), grpc::InsecureChannelCredentials(), live,
                    TestChannelOptions());
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).report, Attempts(3));
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).report, Attempts(1));
}

TEST(SharedStateTest, PoliciesMayChangeWhileCallsRun) {
  ScriptedGrpcServer server({Unavailable()});
  const auto live = std::make_shared<LivePolicy>(MakePolicyTable({}));
  const auto channel =
      CreateChannel(server.target(), grpc::InsecureChannelCredentials(), live,
                    TestChannelOptions());
  EchoPolicy quick;
  quick.backoff = absl::Milliseconds(1);
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int i = 0; !stop; ++i) {
      quick.max_attempts = 1 + i % 4;
      live->Store(i % 5 == 4 ? nullptr : MakePolicyTable(quick));
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      for (const CallStyle& style : AllCallStyles()) {
        for (int i = 0; i < 10; ++i) {
          const UnaryResult result = CallUnary(channel, style.api);
          EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
          EXPECT_LE(result.report.attempts.size(), 4);
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  stop = true;
  changer.join();
}

TEST(SharedStateTest, ChannelsOfOneNameShareTheThrottle) {
  ScriptedGrpcServer server({Unavailable()});
  auto table = std::make_shared<PolicyTable>(*MakePolicyTable({}));
  ThrottleParameters throttle;
  throttle.max_milli_tokens = 4000;
  throttle.milli_token_ratio = 100;
  table->set_throttle(throttle);
  const auto channel = [&](const char* name) {
    ChannelOptions options = TestChannelOptions();
    options.throttle_name = name;
    return CreateChannel(server.target(), grpc::InsecureChannelCredentials(),
                         std::shared_ptr<const PolicyTable>(table), options);
  };
  // Tokens 4 -> 3 (retry), 3 -> 2 (half: no retry).
  EXPECT_THAT(CallUnary(channel("shared"), UnaryApi::kSync).report,
              AllOf(Attempts(2), StoppedBecause(StopReason::kThrottled)));
  EXPECT_THAT(CallUnary(channel("shared"), UnaryApi::kSync).report,
              AllOf(Attempts(1), StoppedBecause(StopReason::kThrottled)));
  EXPECT_THAT(CallUnary(channel("other"), UnaryApi::kSync).report, Attempts(2));
}

TEST(SharedStateTest, ARetryBudgetIsSharedByCallsOfAPolicy) {
  for (const DriverMode mode :
       {DriverMode::kNativeFirst, DriverMode::kAlwaysOwned}) {
    ScriptedGrpcServer server({Unavailable()});
    InFlightRetryBudget::Parameters parameters;
    parameters.ratio_millionths = 0;
    parameters.min_retries = 1;
    const auto budget = std::make_shared<InFlightRetryBudget>(parameters);
    EchoPolicy policy;
    policy.adjust = [&](MethodPolicy& method) { method.retry_budget = budget; };
    const auto channel = ChannelTo(server, mode, MakePolicyTable(policy));
    // One retry at a time is paid for, and given back.
    EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).report, Attempts(3));
    EXPECT_EQ(budget->active_calls(), 0);
    EXPECT_EQ(budget->retrying_calls(), 0);
    ASSERT_TRUE(budget->TryWithdraw(Instant()));
    EXPECT_THAT(
        CallUnary(channel, UnaryApi::kSync).report,
        AllOf(Attempts(1), StoppedBecause(StopReason::kBudgetExhausted)));
    budget->RetryEnded();
    EXPECT_EQ(budget->active_calls(), 0);
  }
}

TEST(SharedStateTest, AnOperationBoundsSeveralCalls) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Unavailable()});
    const auto channel = ChannelTo(server, style.mode, MakePolicyTable({}));
    const auto work = std::make_shared<Operation>(Operation::Limits{4});
    UnarySpec spec;
    spec.options.set_operation(work);
    EXPECT_THAT(CallUnary(channel, style.api, spec).report, Attempts(3));
    EXPECT_THAT(CallUnary(channel, style.api, spec).report,
                AllOf(Attempts(1), StoppedBecause(StopReason::kRequestBudget)));
    const UnaryResult refused = CallUnary(channel, style.api, spec);
    EXPECT_THAT(refused.status, StatusIs(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                         "request budget of 4 used"));
    EXPECT_THAT(refused.report, Attempts(0));
    EXPECT_EQ(work->requests_used(), 4);
    EXPECT_THAT(server.Requests(), SizeIs(4));
  }
}

TEST(SharedStateTest, KeysComeFromTheChannelsGeneratorOncePerCall) {
  ScriptedGrpcServer server({Unavailable(), Answer::Ok(), Answer::Ok()});
  EchoPolicy policy;
  policy.adjust = [](MethodPolicy& method) { method.key.generate = true; };
  std::atomic<int> made{0};
  ChannelOptions options = TestChannelOptions();
  options.key_generator = [&made](RandomSource&) {
    return "order-" + std::to_string(++made);
  };
  const auto channel =
      CreateChannel(server.target(), grpc::InsecureChannelCredentials(),
                    MakePolicyTable(policy), options);
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).status, IsOk());
  EXPECT_THAT(CallUnary(channel, UnaryApi::kSync).status, IsOk());
  std::vector<std::string> keys;
  for (const auto& request : server.Requests()) {
    keys.push_back(OneValue(request.metadata, "idempotency-key"));
  }
  EXPECT_THAT(keys, ElementsAre("order-1", "order-1", "order-2"));
}

}  // namespace
}  // namespace redial
