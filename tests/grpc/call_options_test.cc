// Options of one call, and what channels and calls share.
#include <memory>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/core/operation.h"
#include "redial/core/retry_budget.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/scoped_call_options.h"
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

Answer Unavailable() {
  return Answer::Error(grpc::StatusCode::UNAVAILABLE, "not yet");
}

std::shared_ptr<grpc::Channel> ChannelTo(
    const ScriptedGrpcServer& server, DriverMode mode,
    std::shared_ptr<const PolicyTable> table) {
  return CreateChannel(server.target(), grpc::InsecureChannelCredentials(),
                       std::move(table), TestChannelOptions(mode));
}

std::shared_ptr<const PolicyTable> NoPolicy() {
  return std::make_shared<PolicyTable>();
}

EchoPolicy Defaults() {
  EchoPolicy policy;
  policy.codes = {};
  return policy;
}

struct OptionCase {
  std::string name;
  std::vector<Answer> answers;
  std::shared_ptr<const PolicyTable> table;
  CallOptions options;
  int attempts;
  StopReason reason;
  EchoMethod method = EchoMethod::kUnary;
};

std::vector<OptionCase> OptionCases() {
  BackoffPolicy short_backoff;
  short_backoff.base = absl::Milliseconds(1);
  EchoPolicy slow;
  slow.backoff = absl::Seconds(15);
  EchoPolicy timing_out;
  timing_out.codes = {absl::StatusCode::kDeadlineExceeded};
  ClassifierPolicy only_aborted;
  only_aborted.retryable_codes = CodeSet{absl::StatusCode::kAborted};
  const auto table = MakePolicyTable({});
  const Answer ok = Answer::Ok();
  std::vector<OptionCase> cases;
  cases.push_back({"one attempt",
                   {Unavailable(), ok},
                   table,
                   CallOptions().set_max_attempts(1),
                   1,
                   StopReason::kAttemptsExhausted});
  cases.push_back({"more attempts",
                   {Unavailable()},
                   table,
                   CallOptions().set_max_attempts(5),
                   5,
                   StopReason::kAttemptsExhausted});
  cases.push_back({"attempts without a policy",
                   {Unavailable(), ok},
                   NoPolicy(),
                   CallOptions().set_max_attempts(2).set_backoff(short_backoff),
                   2,
                   StopReason::kSuccess,
                   EchoMethod::kUnaryIdempotent});
  cases.push_back({"attempt timeout",
                   {Answer::Hang(), ok},
                   MakePolicyTable(timing_out),
                   CallOptions().set_attempt_timeout(absl::Milliseconds(100)),
                   2,
                   StopReason::kSuccess});
  cases.push_back({"timeout",
                   {Answer::Hang()},
                   table,
                   CallOptions().set_timeout(absl::Milliseconds(100)),
                   1,
                   StopReason::kDeadline});
  cases.push_back({"timeout without a policy",
                   {Answer::Hang()},
                   NoPolicy(),
                   CallOptions().set_timeout(absl::Milliseconds(100)),
                   1,
                   StopReason::kDeadline});
  cases.push_back({"retry window",
                   {Unavailable(), ok},
                   MakePolicyTable(slow),
                   CallOptions().set_retry_window(absl::Seconds(1)),
                   1,
                   StopReason::kRetryWindow});
  cases.push_back({"backoff",
                   {Unavailable(), ok},
                   MakePolicyTable(slow),
                   CallOptions().set_backoff(short_backoff),
                   2,
                   StopReason::kSuccess});
  cases.push_back({"classifier",
                   {Unavailable(), ok},
                   table,
                   CallOptions().set_classifier(only_aborted),
                   1,
                   StopReason::kPermanent});
  cases.push_back({"classifier, the code it lists",
                   {Answer::Error(grpc::StatusCode::ABORTED), ok},
                   table,
                   CallOptions().set_classifier(only_aborted),
                   2,
                   StopReason::kSuccess});
  cases.push_back({"not known to be idempotent",
                   {Unavailable(), ok},
                   MakePolicyTable(Defaults()),
                   CallOptions(),
                   1,
                   StopReason::kNotIdempotent});
  cases.push_back({"idempotent by its descriptor",
                   {Unavailable(), ok},
                   MakePolicyTable(Defaults()),
                   CallOptions(),
                   2,
                   StopReason::kSuccess,
                   EchoMethod::kUnaryIdempotent});
  cases.push_back({"safe by its descriptor",
                   {Unavailable(), ok},
                   MakePolicyTable(Defaults()),
                   CallOptions(),
                   2,
                   StopReason::kSuccess,
                   EchoMethod::kUnarySafe});
  cases.push_back({"idempotent by the call",
                   {Unavailable(), ok},
                   MakePolicyTable(Defaults()),
                   CallOptions().set_idempotent(true),
                   2,
                   StopReason::kSuccess});
  cases.push_back({"not idempotent by the call",
                   {Unavailable(), ok},
                   MakePolicyTable(Defaults()),
                   CallOptions().set_idempotent(false),
                   1,
                   StopReason::kNotIdempotent,
                   EchoMethod::kUnaryIdempotent});
  cases.push_back({"idempotent by its key",
                   {Unavailable(), ok},
                   MakePolicyTable(Defaults()),
                   CallOptions().set_idempotency_key("build-8812"),
                   2,
                   StopReason::kSuccess});
  WindowedRetryBudget::Parameters nothing;
  nothing.min_retries_per_second = 0;
  nothing.ratio_millionths = 0;
  cases.push_back({"retry budget",
                   {Unavailable(), ok},
                   table,
                   CallOptions().set_retry_budget(
                       std::make_shared<WindowedRetryBudget>(nothing)),
                   1,
                   StopReason::kBudgetExhausted});
  cases.push_back({"operation",
                   {Unavailable(), ok},
                   table,
                   CallOptions().set_operation(
                       std::make_shared<Operation>(Operation::Limits{1})),
                   1,
                   StopReason::kRequestBudget});
  return cases;
}

TEST(CallOptionsTest, EachOptionReplacesItsField) {
  for (const DriverMode mode :
       {DriverMode::kNativeFirst, DriverMode::kAlwaysOwned}) {
    for (const OptionCase& c : OptionCases()) {
      SCOPED_TRACE(c.name +
                   (mode == DriverMode::kNativeFirst ? " native" : " owned"));
      if (c.options.operation() != nullptr &&
          c.options.operation()->requests_used() > 0) {
        c.options.operation()->GiveBack();
      }
      ScriptedGrpcServer server(c.answers);
      UnarySpec spec;
      spec.method = c.method;
      spec.options = c.options;
      const UnaryResult result =
          CallUnary(ChannelTo(server, mode, c.table), UnaryApi::kSync, spec);
      EXPECT_THAT(result.report,
                  AllOf(Attempts(c.attempts), StoppedBecause(c.reason)));
      EXPECT_EQ(result.status.ok(), c.reason == StopReason::kSuccess);
      EXPECT_THAT(server.Requests(), SizeIs(c.attempts));
      EXPECT_THAT(result.elapsed, Lt(absl::Seconds(10)));
    }
  }
}

TEST(CallOptionsTest, AreConsumedByOneCallAndErasedWithTheirScope) {
  ScriptedGrpcServer server({Unavailable()});
  const auto channel =
      ChannelTo(server, DriverMode::kNativeFirst, MakePolicyTable({}));
  const auto stub = v1::Echo::NewStub(channel);
  const v1::EchoRequest request;
  v1::EchoResponse response;
  // All contexts at one address.
  absl::optional<grpc::ClientContext> context;
  const auto requests_of_a_call = [&] {
    const size_t before = server.Requests().size();
    stub->Unary(&*context, request, &response);
    return server.Requests().size() - before;
  };
  const CallOptions once = CallOptions().set_max_attempts(1);

  context.emplace();
  CallReport report;
  {
    const ScopedCallOptions scoped(*context, once, &report);
    EXPECT_EQ(requests_of_a_call(), 1);
    EXPECT_THAT(report, Attempts(1));
    // The scope is still open, the options are gone.
    report = CallReport();
    context.emplace();
    EXPECT_EQ(requests_of_a_call(), 3);
    EXPECT_THAT(report, Attempts(0));
  }
  // A scope that ended without a call.
  context.emplace();
  { const ScopedCallOptions scoped(*context, once, &report); }
  context.emplace();
  EXPECT_EQ(requests_of_a_call(), 3);
  EXPECT_THAT(report, Attempts(0));
  // The last of two for one context holds.
  context.emplace();
  {
    const ScopedCallOptions first(*context, CallOptions().set_max_attempts(2));
    const ScopedCallOptions second(*context, once);
    EXPECT_EQ(requests_of_a_call(), 1);
  }
}

TEST(CallOptionsTest, AStreamConsumesThemToo) {
  ScriptedGrpcServer server({Unavailable()});
  const auto channel =
      ChannelTo(server, DriverMode::kNativeFirst, MakePolicyTable({}));
  const auto stub = v1::Echo::NewStub(channel);
  absl::optional<grpc::ClientContext> context;
  context.emplace();
  const ScopedCallOptions scoped(*context, CallOptions().set_max_attempts(1));
  v1::EchoResponse response;
  stub->ServerStream(&*context, v1::EchoRequest())->Finish();
  const size_t before = server.Requests().size();
  context.emplace();
  stub->Unary(&*context, v1::EchoRequest(), &response);
  EXPECT_THAT(server.Requests(), SizeIs(before + 3));
}

TEST(CallOptionsTest, AMethodWithoutAPolicyHasAReport) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server({Answer::Ok(), Unavailable()});
    const auto channel = ChannelTo(server, style.mode, NoPolicy());
    UnaryResult result = CallUnary(channel, style.api);
    EXPECT_THAT(result.status, IsOk());
    EXPECT_THAT(result.report,
                AllOf(Attempts(1), StoppedBecause(StopReason::kSuccess)));
    EXPECT_EQ(result.report.method, "/redial.v1.Echo/Unary");
    result = CallUnary(channel, style.api);
    EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::UNAVAILABLE));
    EXPECT_THAT(result.report,
                AllOf(Attempts(1), StoppedBecause(StopReason::kNoPolicy)));
    EXPECT_THAT(server.Requests(), SizeIs(2));
  }
}

struct KeyCase {
  const char* name;
  bool generate;
  const char* in_metadata;
  const char* in_options;
  // Null: a generated one. Empty: none.
  const char* sent;
};

TEST(CallOptionsTest, TheIdempotencyKeyIsOneOnAllAttempts) {
  const KeyCase cases[] = {
      {"none", false, nullptr, nullptr, ""},
      {"generated", true, nullptr, nullptr, nullptr},
      {"options", false, nullptr, "from options", "from options"},
      {"options before generated", true, nullptr, "mine", "mine"},
      {"metadata before generated", true, "plain", nullptr, "plain"},
      {"metadata before options", true, "plain", "mine", "plain"},
  };
  for (const KeyCase& c : cases) {
    for (const CallStyle& style : AllCallStyles()) {
      SCOPED_TRACE(std::string(c.name) + " " + CallStyleName(style));
      ScriptedGrpcServer server({Unavailable(), Unavailable(), Answer::Ok()});
      EchoPolicy policy;
      policy.adjust = [&c](MethodPolicy& method) {
        method.key.generate = c.generate;
      };
      UnarySpec spec;
      spec.prepare = [&c](grpc::ClientContext& context) {
        if (c.in_metadata != nullptr) {
          context.AddMetadata("idempotency-key", c.in_metadata);
        }
      };
      if (c.in_options != nullptr) {
        spec.options.set_idempotency_key(c.in_options);
      }
      const UnaryResult result =
          CallUnary(ChannelTo(server, style.mode, MakePolicyTable(policy)),
                    style.api, spec);
      EXPECT_THAT(result.status, IsOk());
      const auto requests = server.Requests();
      ASSERT_THAT(requests, SizeIs(3));
      const std::string key = OneValue(requests[0].metadata, "idempotency-key");
      if (c.sent != nullptr) {
        EXPECT_EQ(key, c.sent);
      } else {
        EXPECT_THAT(key, SizeIs(36));
      }
      EXPECT_EQ(result.report.idempotency_key, key);
      for (const auto& request : requests) {
        EXPECT_EQ(OneValue(request.metadata, "idempotency-key"), key);
      }
    }
  }
}

TEST(CallOptionsTest, AKeyIsSentWithoutAPolicyToo) {
  ScriptedGrpcServer server({Answer::Ok()});
  UnarySpec spec;
  spec.options.set_idempotency_key("k");
  CallUnary(ChannelTo(server, DriverMode::kNativeFirst, NoPolicy()),
            UnaryApi::kSync, spec);
  EXPECT_EQ(OneValue(server.Requests().at(0).metadata, "idempotency-key"), "k");
}

TEST(CallOptionsTest, AKeyThatCannotBeSentRefusesTheCall) {
  for (const char* key : {"", "a\nb", "caf\xc3\xa9", " a"}) {
    for (const CallStyle& style : AllCallStyles()) {
      SCOPED_TRACE(CallStyleName(style));
      ScriptedGrpcServer server({Answer::Ok()});
      UnarySpec spec;
      spec.options.set_idempotency_key(key);
      const UnaryResult result = CallUnary(
          ChannelTo(server, style.mode, MakePolicyTable({})), style.api, spec);
      EXPECT_THAT(result.status, StatusIs(grpc::StatusCode::INVALID_ARGUMENT,
                                          HasSubstr("idempotency key")));
      EXPECT_THAT(result.report,
                  AllOf(Attempts(0), StoppedBecause(StopReason::kPermanent)));
      EXPECT_THAT(server.Requests(), IsEmpty());
    }
  }
}

TEST(CallOptionsTest, TheReasonIsExplainedInTheMessageWhereAsked) {
  for (const CallStyle& style : AllCallStyles()) {
    SCOPED_TRACE(CallStyleName(style));
    ScriptedGrpcServer server(
        {Unavailable().WithRetryInfo(absl::Milliseconds(1))});
    EchoPolicy policy;
    policy.adjust = [](MethodPolicy& method) {
      method.explain_in_message = true;
    };
    const UnaryResult result = CallUnary(
        ChannelTo(server, style.mode, MakePolicyTable(policy)), style.api);
    EXPECT_THAT(
        result.status,
        StatusIs(grpc::StatusCode::UNAVAILABLE,
                 AllOf(HasSubstr("not yet [redial: "), HasSubstr("3 attempts"),
                       HasSubstr("attempts exhausted"))));
    EXPECT_FALSE(result.status.error_details().empty());
  }
}

}  // namespace
}  // namespace redial
