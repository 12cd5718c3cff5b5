#include "tools/redial/scenario/grpc_run.h"

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redial/core/instant.h"
#include "redial/grpc/channel.h"
#include "redial/grpc/scoped_call_options.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tools/redial/scenario/call_schedule.h"
#include "tools/redial/scenario/scenario_calls.h"
#include "tools/redial/scenario/unary_caller.h"

namespace redial {
namespace {

gpr_timespec FromNow(absl::Duration length) {
  // Within what gRPC's clock holds.
  const absl::Duration bounded = std::min(length, absl::Hours(24 * 365));
  return gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC),
      gpr_time_from_nanos(absl::ToInt64Nanoseconds(bounded), GPR_TIMESPAN));
}

ScriptedGrpcAnswer Scripted(const ScenarioAnswer& answer) {
  ScriptedGrpcAnswer scripted;
  scripted.status =
      answer.status == absl::StatusCode::kOk
          ? grpc::Status::OK
          : grpc::Status(static_cast<grpc::StatusCode>(answer.status),
                         answer.message, DetailsOf(answer));
  scripted.initial_metadata = answer.initial_metadata;
  scripted.trailers = answer.trailers;
  scripted.delay = answer.delay;
  scripted.hang = answer.hang;
  scripted.drop = answer.drop;
  return scripted;
}

// Where answers drop connections, a channel for each call in progress; else one
// for all.
class ChannelPool {
 public:
  ChannelPool(const Scenario& scenario, const GrpcRunOptions& options,
              std::string target, bool shared)
      : scenario_(scenario),
        options_(options),
        target_(std::move(target)),
        shared_(shared) {
    // A name of this run's own: throttles are shared by name.
    static std::atomic<int> runs{0};
    throttle_name_ = absl::StrCat("scenario-", ++runs);
  }

  std::shared_ptr<grpc::Channel> Take() {
    const std::lock_guard<std::mutex> lock(mu_);
    if (free_.empty()) return Make();
    std::shared_ptr<grpc::Channel> channel = free_.back();
    if (!shared_) free_.pop_back();
    return channel;
  }
  void GiveBack(std::shared_ptr<grpc::Channel> channel) {
    const std::lock_guard<std::mutex> lock(mu_);
    if (!shared_ || free_.empty()) free_.push_back(std::move(channel));
  }
  // Waits until nobody else holds a channel. A call that is over may still be
  // referred to by the callback that ended it, and the threads that run
  // callbacks must not be the ones to destroy a channel: they would wait for
  // themselves.
  void AwaitRelease() const {
    const auto limit =
        std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (const std::shared_ptr<grpc::Channel>& channel : free_) {
      while (channel.use_count() > 1 &&
             std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }
  // A connected channel, so that connecting is no part of the first call.
  bool WarmUp() {
    std::shared_ptr<grpc::Channel> channel = Take();
    const bool connected = channel->WaitForConnected(
        std::chrono::system_clock::now() + std::chrono::seconds(10));
    GiveBack(std::move(channel));
    return connected;
  }

 private:
  std::shared_ptr<grpc::Channel> Make() const {
    ChannelOptions channel;
    channel.mode = options_.mode;
    channel.random = options_.random;
    channel.throttle_name = throttle_name_;
    channel.arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel.arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    return CreateChannel(target_, grpc::InsecureChannelCredentials(),
                         scenario_.policy, channel);
  }

  const Scenario& scenario_;
  const GrpcRunOptions options_;
  const std::string target_;
  const bool shared_;
  std::string throttle_name_;
  std::mutex mu_;
  std::vector<std::shared_ptr<grpc::Channel>> free_;
};

ScenarioMetadata TrailersOf(const grpc::ClientContext& context) {
  ScenarioMetadata trailers;
  for (const auto& [name, value] : context.GetServerTrailingMetadata()) {
    trailers.emplace(std::string(name.data(), name.size()),
                     std::string(value.data(), value.size()));
  }
  return trailers;
}

// Makes one call; `result` has its entry already.
void MakeCall(const ScenarioCall& call,
              const std::shared_ptr<grpc::Channel>& channel,
              ScenarioCallResult* result) {
  const auto context = std::make_shared<grpc::ClientContext>();
  for (const auto& [name, value] : call.metadata) {
    context->AddMetadata(name, value);
  }
  if (call.timeout.has_value()) context->set_deadline(FromNow(*call.timeout));
  const ScopedCallOptions scoped(*context, OptionsOf(call), &result->report);
  grpc::Alarm cancel;
  if (call.cancel_after.has_value()) {
    if (*call.cancel_after <= absl::ZeroDuration()) {
      context->TryCancel();
    } else {
      cancel.Set(FromNow(*call.cancel_after), [context](bool fired) {
        if (fired) context->TryCancel();
      });
    }
  }
  const redial::v1::EchoRequest request = ScenarioRequest();
  redial::v1::EchoResponse response;
  const grpc::Status status =
      CallUnary(call.grpc->api, channel, call.grpc->method, context.get(),
                request, &response);
  cancel.Cancel();
  result->code = static_cast<absl::StatusCode>(status.error_code());
  result->message = status.error_message();
  result->trailers = TrailersOf(*context);
}

std::vector<ScenarioServerEntry> ServerEntries(const Scenario& scenario,
                                               const ScriptedGrpcServer& server,
                                               Instant start) {
  std::vector<ScenarioServerEntry> entries;
  for (ScriptedGrpcRequest& request : server.Requests()) {
    ScenarioServerEntry entry;
    entry.at = std::max(request.arrival - start, absl::ZeroDuration());
    entry.metadata = std::move(request.metadata);
    entry.metadata.erase("user-agent");
    entry.attempt = AttemptOf(entry.metadata,
                              PreviousAttemptsNameOf(scenario, request.method));
    entry.deadline = request.remaining;
    entry.cancelled = request.cancelled;
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

absl::StatusOr<ScenarioResult> RunOnGrpc(const Scenario& scenario,
                                         const GrpcRunOptions& options) {
  absl::Status grpc = CheckGrpcCalls(scenario);
  if (!grpc.ok()) return grpc;

  std::vector<ScriptedGrpcAnswer> answers;
  for (const ScenarioAnswer& answer : scenario.server) {
    answers.push_back(Scripted(answer));
  }
  const bool drops =
      std::any_of(answers.begin(), answers.end(),
                  [](const ScriptedGrpcAnswer& answer) { return answer.drop; });
  ScriptedGrpcServer server(std::move(answers));
  if (!server.status().ok()) return server.status();
  ChannelPool channels(scenario, options, server.target(), !drops);
  if (!channels.WarmUp()) {
    return absl::UnavailableError(
        absl::StrCat("cannot connect to ", server.target()));
  }

  std::mutex mu;
  std::map<size_t, ScenarioCallResult> results;  // addresses stay
  const Instant start = ScriptedGrpcServer::Now();
  CallSchedule schedule(scenario, [&](size_t entry) {
    std::shared_ptr<grpc::Channel> channel = channels.Take();
    ScenarioCallResult* result = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mu);
      result = &results[results.size()];
    }
    result->entry = entry;
    result->began = ScriptedGrpcServer::Now() - start;
    MakeCall(scenario.calls[entry], channel, result);
    channels.GiveBack(std::move(channel));
  });
  schedule.Run();
  channels.AwaitRelease();
  server.WaitUntilIdle();

  ScenarioResult result;
  result.name = scenario.name;
  result.on = "grpc";
  for (auto& [number, call] : results) result.calls.push_back(std::move(call));
  result.server = ServerEntries(scenario, server, start);
  return result;
}

}  // namespace redial
