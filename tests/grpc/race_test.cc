// Everything at once: cancels, timeouts, deadlines and answers that meet.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/interceptor_stack.h"
#include "redial/testing/fixed_random.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using Answer = ScriptedGrpcAnswer;

constexpr int kThreads = 8;

// REDIAL_RACE_CALLS sets it, for slow checkers; per thread and test.
int CallsPerThread() {
  int calls = 120;
  const char* wanted = std::getenv("REDIAL_RACE_CALLS");
  if (wanted != nullptr && !absl::SimpleAtoi(wanted, &calls)) std::abort();
  return calls;
}

uint64_t Seed() {
  static const uint64_t seed = [] {
    uint64_t chosen = absl::ToUnixNanos(absl::Now());
    const char* wanted = std::getenv("REDIAL_RACE_SEED");
    if (wanted != nullptr && !absl::SimpleAtoi(wanted, &chosen)) std::abort();
    std::cout << "REDIAL_RACE_SEED=" << chosen << std::endl;
    return chosen;
  }();
  return seed;
}

void PassTime(absl::Duration length) {
  const absl::Time end = absl::Now() + length;
  while (absl::Now() < end) std::this_thread::yield();
}

struct Race {
  EchoPolicy policy;
  ScriptedGrpcServer::AnswerFunction answer;
  // Chooses what one call is like.
  std::function<UnarySpec(RandomSource&)> spec;
  // What it may end with.
  std::vector<grpc::StatusCode> codes;
};

void RunRace(const Race& race) {
  ScriptedGrpcServer server(race.answer, false);
  const auto table = MakePolicyTable(race.policy);
  std::vector<std::unique_ptr<InterceptorStack>> stacks;
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (const DriverMode mode :
       {DriverMode::kNativeFirst, DriverMode::kAlwaysOwned}) {
    stacks.push_back(std::make_unique<InterceptorStack>(
        table, server.target(), TestChannelOptions(mode)));
    channels.push_back(
        stacks.back()->CreateChannel(grpc::InsecureChannelCredentials()));
  }
  const std::vector<CallStyle> styles = AllCallStyles();
  std::atomic<int> completed{0};
  std::atomic<int> by_code[17] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      SeededRandom random(Seed() + t);
      for (int i = 0; i < CallsPerThread(); ++i) {
        const CallStyle& style = styles[random.NextBits() % styles.size()];
        const UnaryResult result =
            CallUnary(channels[style.mode == DriverMode::kAlwaysOwned],
                      style.api, race.spec(random));
        ++completed;
        ++by_code[result.status.error_code()];
        EXPECT_THAT(race.codes, ::testing::Contains(result.status.error_code()))
            << CallStyleName(style) << " " << result.status.error_message();
        if (result.status.ok()) {
          EXPECT_EQ(result.response.text(), "hello") << CallStyleName(style);
        }
        EXPECT_EQ(static_cast<int>(result.report.code),
                  static_cast<int>(result.status.error_code()))
            << CallStyleName(style) << " " << result.report.Summary();
        EXPECT_LE(result.report.attempts.size(), race.policy.max_attempts);
        EXPECT_LT(result.elapsed, absl::Seconds(10)) << CallStyleName(style);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(completed, kThreads * CallsPerThread());
  for (const auto& stack : stacks) {
    EXPECT_TRUE(stack->AwaitIdle(absl::Seconds(10)));
  }
  EXPECT_TRUE(server.WaitUntilIdle());
  for (int code = 0; code < 17; ++code) {
    if (by_code[code] > 0) {
      std::cout << CodeName(static_cast<absl::StatusCode>(code)) << " "
                << by_code[code] << std::endl;
    }
  }
}

// One answer in `one_in` is OK, the others are UNAVAILABLE; after up to 2 ms.
ScriptedGrpcServer::AnswerFunction Mixed(uint64_t one_in) {
  auto random = std::make_shared<SeededRandom>(Seed() + 1000);
  return [random, one_in](const ScriptedGrpcRequest&) {
    Answer answer = random->NextBits() % one_in == 0
                        ? Answer::Ok()
                        : Answer::Error(grpc::StatusCode::UNAVAILABLE, "no");
    return answer.After(absl::Microseconds(random->NextBits() % 2000));
  };
}

TEST(RaceTest, CancelAtEveryPoint) {
  Race race;
  race.policy.max_attempts = 4;
  race.policy.backoff = absl::Microseconds(500);
  race.policy.attempt_timeout = absl::Milliseconds(500);
  race.answer = Mixed(3);
  race.spec = [](RandomSource& random) {
    UnarySpec spec;
    const auto after = absl::Microseconds(random.NextBits() % 3000);
    spec.meanwhile = [after](grpc::ClientContext& context) {
      PassTime(after);
      context.TryCancel();
    };
    return spec;
  };
  race.codes = {grpc::OK, grpc::CANCELLED, grpc::UNAVAILABLE};
  RunRace(race);
}

TEST(RaceTest, AnAnswerAtTheAttemptTimeout) {
  Race race;
  race.policy.max_attempts = 3;
  race.policy.backoff = absl::Microseconds(100);
  race.policy.codes = {absl::StatusCode::kDeadlineExceeded};
  race.policy.attempt_timeout = absl::Milliseconds(6);
  auto random = std::make_shared<SeededRandom>(Seed() + 2000);
  race.answer = [random](const ScriptedGrpcRequest&) {
    return Answer::Ok().After(
        absl::Microseconds(4000 + random->NextBits() % 3000));
  };
  race.spec = [](RandomSource&) { return UnarySpec(); };
  race.codes = {grpc::OK, grpc::DEADLINE_EXCEEDED};
  RunRace(race);
}

TEST(RaceTest, ADeadlineAtTheEndOfTheBackoff) {
  Race race;
  race.policy.max_attempts = 3;
  race.policy.backoff = absl::Milliseconds(5);
  race.answer = Mixed(3);
  race.spec = [](RandomSource& random) {
    UnarySpec spec;
    spec.deadline = absl::Microseconds(3000 + random.NextBits() % 6000);
    return spec;
  };
  race.codes = {grpc::OK, grpc::UNAVAILABLE, grpc::DEADLINE_EXCEEDED};
  RunRace(race);
}

TEST(RaceTest, AllAtOnce) {
  Race race;
  race.policy.max_attempts = 4;
  race.policy.backoff = absl::Microseconds(300);
  race.policy.codes = {absl::StatusCode::kUnavailable,
                       absl::StatusCode::kDeadlineExceeded,
                       absl::StatusCode::kCancelled};
  race.policy.attempt_timeout = absl::Milliseconds(3);
  race.answer = Mixed(2);
  race.spec = [](RandomSource& random) {
    UnarySpec spec;
    spec.deadline = absl::Microseconds(1000 + random.NextBits() % 20000);
    if (random.NextBits() % 2 == 0) {
      const auto after = absl::Microseconds(random.NextBits() % 3000);
      spec.meanwhile = [after](grpc::ClientContext& context) {
        PassTime(after);
        context.TryCancel();
      };
    }
    return spec;
  };
  race.codes = {grpc::OK, grpc::CANCELLED, grpc::UNAVAILABLE,
                grpc::DEADLINE_EXCEEDED};
  RunRace(race);
}

}  // namespace
}  // namespace redial
