#include "tests/grpc/unary_harness.h"

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "redial/grpc/grpc_clock.h"
#include "redial/grpc/private_access.h"
#include "redial/grpc/scoped_call_options.h"

namespace redial {
namespace {

using Stub = v1::Echo::Stub;

std::multimap<std::string, std::string> Copy(
    const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
  std::multimap<std::string, std::string> copy;
  for (const auto& entry : metadata) {
    copy.emplace(std::string(entry.first.data(), entry.first.size()),
                 std::string(entry.second.data(), entry.second.size()));
  }
  return copy;
}

class CallMaker {
 public:
  CallMaker(Stub* stub, const UnarySpec& spec, grpc::ClientContext* context,
            UnaryResult* result)
      : stub_(stub), spec_(spec), context_(context), result_(result) {
    request_.set_text(spec.text);
  }

  void Sync() {
    std::thread meanwhile([this] { Meanwhile(); });
    switch (spec_.method) {
      case EchoMethod::kUnary:
        result_->status = stub_->Unary(context_, request_, &result_->response);
        break;
      case EchoMethod::kUnaryIdempotent:
        result_->status =
            stub_->UnaryIdempotent(context_, request_, &result_->response);
        break;
      case EchoMethod::kUnarySafe:
        result_->status =
            stub_->UnarySafe(context_, request_, &result_->response);
        break;
    }
    meanwhile.join();
  }

  void CompletionQueue(bool initial_first) {
    grpc::CompletionQueue queue;
    auto reader = spec_.method == EchoMethod::kUnary
                      ? stub_->AsyncUnary(context_, request_, &queue)
                  : spec_.method == EchoMethod::kUnaryIdempotent
                      ? stub_->AsyncUnaryIdempotent(context_, request_, &queue)
                      : stub_->AsyncUnarySafe(context_, request_, &queue);
    void* tag = nullptr;
    bool ok = false;
    if (initial_first) {
      reader->ReadInitialMetadata(this);
      Meanwhile();
      queue.Next(&tag, &ok);
      reader->Finish(&result_->response, &result_->status, this);
    } else {
      reader->Finish(&result_->response, &result_->status, this);
      Meanwhile();
    }
    queue.Next(&tag, &result_->ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
  }

  void Callback() {
    std::promise<grpc::Status> done;
    const auto on_done = [&done](grpc::Status status) {
      done.set_value(std::move(status));
    };
    switch (spec_.method) {
      case EchoMethod::kUnary:
        stub_->async()->Unary(context_, &request_, &result_->response, on_done);
        break;
      case EchoMethod::kUnaryIdempotent:
        stub_->async()->UnaryIdempotent(context_, &request_, &result_->response,
                                        on_done);
        break;
      case EchoMethod::kUnarySafe:
        stub_->async()->UnarySafe(context_, &request_, &result_->response,
                                  on_done);
        break;
    }
    Meanwhile();
    result_->status = done.get_future().get();
  }

  void Reactor() {
    struct Waiter final : grpc::ClientUnaryReactor {
      void OnDone(const grpc::Status& status) override {
        done.set_value(status);
      }
      std::promise<grpc::Status> done;
    } reactor;
    switch (spec_.method) {
      case EchoMethod::kUnary:
        stub_->async()->Unary(context_, &request_, &result_->response,
                              &reactor);
        break;
      case EchoMethod::kUnaryIdempotent:
        stub_->async()->UnaryIdempotent(context_, &request_, &result_->response,
                                        &reactor);
        break;
      case EchoMethod::kUnarySafe:
        stub_->async()->UnarySafe(context_, &request_, &result_->response,
                                  &reactor);
        break;
    }
    reactor.StartCall();
    Meanwhile();
    result_->status = reactor.done.get_future().get();
  }

 private:
  void Meanwhile() {
    if (spec_.meanwhile) spec_.meanwhile(*context_);
  }

  Stub* const stub_;
  const UnarySpec& spec_;
  grpc::ClientContext* const context_;
  UnaryResult* const result_;
  v1::EchoRequest request_;
};

}  // namespace

std::string UnaryApiName(UnaryApi api) {
  switch (api) {
    case UnaryApi::kSync:
      return "Sync";
    case UnaryApi::kCompletionQueue:
      return "CompletionQueue";
    case UnaryApi::kCompletionQueueInitial:
      return "CompletionQueueInitial";
    case UnaryApi::kCallback:
      return "Callback";
    case UnaryApi::kReactor:
      return "Reactor";
  }
  return "";
}

std::vector<CallStyle> AllCallStyles() {
  std::vector<CallStyle> styles;
  for (const DriverMode mode :
       {DriverMode::kNativeFirst, DriverMode::kAlwaysOwned}) {
    for (const UnaryApi api : {UnaryApi::kSync, UnaryApi::kCompletionQueue,
                               UnaryApi::kCompletionQueueInitial,
                               UnaryApi::kCallback, UnaryApi::kReactor}) {
      styles.push_back({api, mode});
    }
  }
  return styles;
}

std::string CallStyleName(const CallStyle& style) {
  return UnaryApiName(style.api) +
         (style.mode == DriverMode::kNativeFirst ? "Native" : "Owned");
}

bool OwnsFirstAttempt(DriverMode mode) {
  return mode == DriverMode::kAlwaysOwned || !HasPrivateAccess();
}

ChannelOptions TestChannelOptions(DriverMode mode) {
  ChannelOptions options;
  options.mode = mode;
  options.arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return options;
}

UnaryResult CallUnary(const std::shared_ptr<grpc::Channel>& channel,
                      UnaryApi api, const UnarySpec& spec) {
  const auto stub = v1::Echo::NewStub(channel);
  UnaryResult result;
  grpc::ClientContext context;
  if (spec.deadline < absl::InfiniteDuration()) {
    context.set_deadline(absl::ToChronoTime(absl::Now() + spec.deadline));
  }
  if (spec.prepare) spec.prepare(context);
  const ScopedCallOptions scoped(context, spec.options, &result.report);
  const Instant start = GrpcNow();
  CallMaker maker(stub.get(), spec, &context, &result);
  switch (api) {
    case UnaryApi::kSync:
      maker.Sync();
      break;
    case UnaryApi::kCompletionQueue:
      maker.CompletionQueue(/*initial_first=*/false);
      break;
    case UnaryApi::kCompletionQueueInitial:
      maker.CompletionQueue(/*initial_first=*/true);
      break;
    case UnaryApi::kCallback:
      maker.Callback();
      break;
    case UnaryApi::kReactor:
      maker.Reactor();
      break;
  }
  result.elapsed = GrpcNow() - start;
  if (spec.afterwards) spec.afterwards();
  result.initial_metadata = Copy(context.GetServerInitialMetadata());
  result.trailers = Copy(context.GetServerTrailingMetadata());
  return result;
}

std::shared_ptr<const PolicyTable> MakePolicyTable(const EchoPolicy& policy) {
  auto method = std::make_shared<MethodPolicy>();
  method->retry.emplace();
  method->retry->max_attempts = policy.max_attempts;
  method->retry->backoff.form = BackoffForm::kProportional;
  method->retry->backoff.jitter = 0;
  method->retry->backoff.multiplier = 1;
  method->retry->backoff.base = policy.backoff;
  if (!policy.codes.empty()) {
    method->retry->classifier.retryable_codes = policy.codes;
  }
  method->attempt_timeout = policy.attempt_timeout;
  method->timeout = policy.timeout;
  if (policy.adjust) policy.adjust(*method);
  auto table = std::make_shared<PolicyTable>();
  table->Add("redial.v1.Echo", "", method);
  return table;
}

std::string OneValue(const std::multimap<std::string, std::string>& metadata,
                     absl::string_view name) {
  const auto range = metadata.equal_range(std::string(name));
  if (range.first == range.second) return "";
  return std::next(range.first) == range.second ? range.first->second
                                                : "<several>";
}

}  // namespace redial
