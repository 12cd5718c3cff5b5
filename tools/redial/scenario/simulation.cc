#include "tools/redial/scenario/simulation.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redial/core/decision.h"
#include "redial/core/idempotency.h"
#include "redial/core/outcome.h"
#include "redial/core/pushback.h"
#include "redial/core/retry_machine.h"
#include "redial/core/throttle.h"
#include "redial/testing/simulated_answer.h"
#include "redial/testing/simulated_call.h"
#include "redial/testing/virtual_time.h"
#include "tools/redial/scenario/scenario_calls.h"

namespace redial {
namespace {

// Far more than anybody reads, and still no burden on memory.
constexpr size_t kMaxAttempts = 1000000;

// Of metadata, messages and trailers in a result.
constexpr size_t kMaxRecordedBytes = size_t{256} << 20;

size_t BytesOf(const ScenarioMetadata& metadata) {
  size_t bytes = 0;
  for (const auto& [name, value] : metadata) {
    bytes += name.size() + value.size();
  }
  return bytes;
}

constexpr char kDetailsName[] = "grpc-status-details-bin";

// On a real call gRPC core reads this trailer and writes it anew: of several
// the last one counts, "007" arrives as "7" and what is no number as the
// smallest.
void PassThroughCore(ScenarioMetadata* trailers) {
  const std::string name(kGrpcRetryPushbackMs);
  const auto range = trailers->equal_range(name);
  if (range.first == range.second) return;
  int64_t value = std::numeric_limits<int64_t>::min();
  if (!absl::SimpleAtoi(std::prev(range.second)->second, &value)) {
    value = std::numeric_limits<int64_t>::min();
  }
  trailers->erase(range.first, range.second);
  trailers->emplace(name, absl::StrCat(value));
}

SimulatedAnswer Simulated(const ScenarioAnswer& scripted, bool first,
                          GrpcApi api) {
  SimulatedAnswer answer;
  if (scripted.drop) {
    answer = SimulatedAnswer::Drop();
  } else {
    answer.code = scripted.status;
    answer.message = scripted.message;
    answer.status_details = DetailsOf(scripted);
    answer.metadata = scripted.trailers;
    PassThroughCore(&answer.metadata);
    const auto details = answer.metadata.find(kDetailsName);
    if (details != answer.metadata.end()) {
      answer.status_details = details->second;
    } else if (!answer.status_details.empty()) {
      answer.metadata.emplace(kDetailsName, answer.status_details);
    }
    if (!scripted.initial_metadata.empty()) {
      answer.headers_received = true;
      answer.headers_after = scripted.delay;
      // This API gives headers to the caller as they come.
      if (first && api == GrpcApi::kReactor) {
        answer.handed_over_after = scripted.delay;
      }
    }
  }
  answer.delay = scripted.hang ? absl::InfiniteDuration() : scripted.delay;
  return answer;
}

class Simulation {
 public:
  Simulation(const Scenario& scenario, RandomSource* random)
      : scenario_(scenario), random_(random), entries_(scenario.calls.size()) {
    result_.name = scenario.name;
    result_.on = "sim";
    if (scenario.policy->throttle().has_value()) {
      throttle_ = std::make_shared<RetryThrottle>(*scenario.policy->throttle());
    }
  }

  absl::StatusOr<ScenarioResult> Run() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].left = scenario_.calls[i].repeat;
      const auto& after = scenario_.calls[i].start_after;
      if (after.has_value()) {
        time_.At(Instant() + *after, [this, i] { BeginEntry(i); });
      }
    }
    time_.At(Instant(), [this] { BeginNext(); });
    while (time_.RunNext()) {
      if (result_.server.size() > kMaxAttempts) {
        return absl::FailedPreconditionError(absl::StrCat(
            "calls: more than ", kMaxAttempts, " attempts are made"));
      }
      if (recorded_bytes_ > kMaxRecordedBytes) {
        return absl::FailedPreconditionError(absl::StrCat(
            "calls: metadata and messages of all attempts are more than ",
            kMaxRecordedBytes, " bytes together"));
      }
    }
    if (!live_.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("calls[", live_.begin()->second.entry,
                       "]: never ends: an attempt hangs, and no \"timeout\", "
                       "\"cancelAfter\" or attempt timeout limits it"));
    }
    return std::move(result_);
  }

 private:
  struct Entry {
    bool begun = false;
    int left = 0;
    int running = 0;
  };
  struct LiveCall {
    size_t entry = 0;
    bool owned_first = false;
    std::string key;
    std::string previous_attempts_name;
    ScenarioMetadata metadata;
    absl::optional<RetryMachine> machine;
    std::unique_ptr<SimulatedCall> call;
    // Of its attempts, in the result.
    std::map<int, size_t> server_entries;
    Instant caller_deadline = Instant::Infinite();
  };

  // The call after those that are over, unless it has a time of its own.
  void BeginNext() {
    while (over_ < entries_.size() && entries_[over_].begun &&
           entries_[over_].left == 0 && entries_[over_].running == 0) {
      ++over_;
    }
    if (over_ < entries_.size() && !entries_[over_].begun &&
        !scenario_.calls[over_].start_after.has_value()) {
      BeginEntry(over_);
    }
  }

  void BeginEntry(size_t i) {
    entries_[i].begun = true;
    const int lanes =
        std::min(entries_[i].left, scenario_.calls[i].concurrency);
    for (int lane = 0; lane < lanes; ++lane) BeginCall(i);
  }

  void BeginCall(size_t i) {
    const ScenarioCall& scripted = scenario_.calls[i];
    --entries_[i].left;
    ++entries_[i].running;
    const size_t number = result_.calls.size();
    result_.calls.emplace_back();
    result_.calls.back().entry = i;
    result_.calls.back().began = time_.Now() - Instant();

    LiveCall& live = live_[number];
    live.entry = i;
    live.metadata = scripted.metadata;
    CallSetup setup = Setup(scripted, &live);
    live.machine.emplace(std::move(setup));
    live.owned_first =
        live.machine->deadline() + DeadlineSlack() < live.caller_deadline;
    live.call = std::make_unique<SimulatedCall>(
        &time_, &*live.machine, [this, number](const StartAttempt& start) {
          return Arrive(number, start);
        });
    live.call->set_on_attempt_ended([this, number](int attempt, bool cut_off) {
      const size_t at = live_[number].server_entries[attempt];
      result_.server[at].cancelled = cut_off;
    });
    live.call->set_on_finished([this, number] {
      time_.At(time_.Now(), [this, number] { CallOver(number); });
    });
    if (scripted.cancel_after == absl::ZeroDuration()) {
      live.call->End(EndCause::kCaller);
    } else if (scripted.cancel_after.has_value()) {
      time_.At(time_.Now() + *scripted.cancel_after, [this, number] {
        const auto found = live_.find(number);
        if (found != live_.end()) found->second.call->End(EndCause::kCaller);
      });
    }
    live.call->Start();
  }

  // What the gRPC adapter does when a call is created.
  CallSetup Setup(const ScenarioCall& scripted, LiveCall* live) {
    CallSetup setup;
    setup.policy = PolicyOf(scenario_, scripted);
    if (setup.policy != nullptr && setup.policy->retry.has_value()) {
      setup.throttle = throttle_;
    }
    setup.random = random_;
    setup.start = time_.Now();
    if (scripted.timeout.has_value()) {
      setup.caller_deadline = time_.Now() + *scripted.timeout;
    }
    live->caller_deadline = setup.caller_deadline;
    setup.idempotency = DescriptorIdempotency(scripted.grpc->method);
    live->previous_attempts_name = setup.policy != nullptr
                                       ? setup.policy->previous_attempts_name
                                       : kPreviousAttemptsName;
    live->metadata.erase(live->previous_attempts_name);
    live->metadata.erase(kGrpcPreviousAttemptsName);

    const IdempotencyKeyPolicy key_policy =
        setup.policy != nullptr ? setup.policy->key : IdempotencyKeyPolicy();
    const auto in_metadata = live->metadata.find(key_policy.name);
    if (in_metadata != live->metadata.end()) {
      live->key = in_metadata->second;
    } else {
      absl::StatusOr<std::string> key =
          ChooseIdempotencyKey(key_policy, scripted.options.idempotency_key,
                               /*in_metadata=*/false, *random_);
      if (!key.ok()) {
        setup.refused = key.status();
      } else if (!key->empty()) {
        live->key = *key;
        live->metadata.emplace(key_policy.name, *key);
      }
    }
    setup.has_idempotency_key = !live->key.empty();
    return setup;
  }

  SimulatedAnswer Arrive(size_t number, const StartAttempt& start) {
    LiveCall& live = live_[number];
    const size_t arrival = result_.server.size();
    live.server_entries[start.number] = arrival;
    ScenarioServerEntry entry;
    entry.at = time_.Now() - Instant();
    entry.metadata = live.metadata;
    if (start.number > 1 && !live.previous_attempts_name.empty()) {
      entry.metadata.emplace(live.previous_attempts_name,
                             absl::StrCat(start.number - 1));
    }
    entry.attempt = AttemptOf(entry.metadata, live.previous_attempts_name);
    // The first attempt is the caller's own call, with the caller's deadline on
    // the wire, where that is the earlier one.
    const Instant deadline = start.number == 1 && !live.owned_first
                                 ? live.caller_deadline
                                 : start.deadline;
    entry.deadline = deadline - time_.Now();
    recorded_bytes_ += BytesOf(entry.metadata);
    result_.server.push_back(std::move(entry));
    const ScenarioAnswer& scripted =
        scenario_.server[std::min(arrival, scenario_.server.size() - 1)];
    SimulatedAnswer answer = Simulated(scripted, start.number == 1,
                                       scenario_.calls[live.entry].grpc->api);
    if (live.machine->may_retry() &&
        request_bytes_ > live.machine->max_retained_request_bytes()) {
      answer.replay = Replay::kTooLarge;
    }
    return answer;
  }

  void CallOver(size_t number) {
    const auto found = live_.find(number);
    LiveCall& live = found->second;
    SimulationResult simulated = live.call->Result();
    ScenarioCallResult& call = result_.calls[number];
    call.code = simulated.status.code();
    call.message = std::string(simulated.status.message());
    if (call.code != absl::StatusCode::kOk &&
        live.machine->explain_in_message()) {
      absl::StrAppend(&call.message, " [redial: ", simulated.report.Summary(),
                      "]");
    }
    call.trailers = std::move(simulated.answer.metadata);
    call.report = std::move(simulated.report);
    call.report.method = scenario_.calls[live.entry].grpc->method;
    call.report.idempotency_key = live.key;
    recorded_bytes_ += call.message.size() + call.report.method.size() +
                       BytesOf(call.trailers);
    for (const std::string& violation : simulated.violations) {
      result_.violations.push_back(
          absl::StrCat("calls[", number, "]: ", violation));
    }
    Entry& entry = entries_[live.entry];
    const size_t i = live.entry;
    --entry.running;
    live_.erase(found);
    if (entry.left > 0) return BeginCall(i);
    if (entry.running == 0) BeginNext();
  }

  const Scenario& scenario_;
  RandomSource* const random_;
  std::shared_ptr<RetryThrottle> throttle_;
  VirtualTime time_;
  std::vector<Entry> entries_;
  size_t over_ = 0;  // so many calls at the front are over
  const size_t request_bytes_ = ScenarioRequest().ByteSizeLong();
  size_t recorded_bytes_ = 0;
  std::map<size_t, LiveCall> live_;
  ScenarioResult result_;
};

}  // namespace

absl::StatusOr<ScenarioResult> RunOnSimulation(const Scenario& scenario,
                                               RandomSource* random) {
  absl::Status grpc = CheckGrpcCalls(scenario);
  if (!grpc.ok()) return grpc;
  return Simulation(scenario, random).Run();
}

}  // namespace redial
