// Scenario: what a client calls, under which policy, and what a scripted server
// answers (proto/redial/v1/scenario.proto), read and checked.
//
// Plain values; the runners take them as they are (simulation.h, grpc_run.h).
#ifndef TOOLS_REDIAL_SCENARIO_SCENARIO_H_
#define TOOLS_REDIAL_SCENARIO_SCENARIO_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/call_report.h"
#include "redial/core/policy_table.h"

namespace redial {

enum class GrpcApi { kSync, kCompletionQueue, kCallback, kReactor };

// Names and values; those of -bin names are bytes.
using ScenarioMetadata = std::multimap<std::string, std::string>;

struct ScenarioGrpcCall {
  std::string method;
  GrpcApi api = GrpcApi::kSync;
};

struct ScenarioHttpCall {
  std::string method;
  std::string path;
  ScenarioMetadata headers;
  std::string body;
  bool replayable = true;
};

struct ScenarioCallOptions {
  absl::optional<int> max_attempts;
  absl::optional<absl::Duration> attempt_timeout;
  absl::optional<std::string> idempotency_key;
};

struct ScenarioCall {
  // At least one of the two.
  absl::optional<ScenarioGrpcCall> grpc;
  absl::optional<ScenarioHttpCall> http;
  absl::optional<absl::Duration> timeout;
  ScenarioMetadata metadata;
  absl::optional<absl::Duration> cancel_after;
  ScenarioCallOptions options;
  int repeat = 1;
  int concurrency = 1;
  absl::optional<absl::Duration> start_after;
};

struct ScenarioAnswer {
  absl::StatusCode status = absl::StatusCode::kOk;
  std::string message;
  absl::Duration delay;
  ScenarioMetadata initial_metadata;
  ScenarioMetadata trailers;
  absl::optional<absl::Duration> retry_info;
  bool hang = false;
  bool drop = false;
  int messages = 0;
  // 0 where there is no HTTP form.
  int http_status = 0;
  ScenarioMetadata headers;
  std::string body;
};

struct ScenarioRange {
  absl::Duration at_least = absl::ZeroDuration();
  absl::Duration at_most = absl::InfiniteDuration();
};

struct ScenarioExpectedCall {
  absl::optional<absl::StatusCode> code;
  absl::optional<int> attempts;
  absl::optional<StopReason> stop_reason;
  absl::optional<ScenarioRange> elapsed;
  absl::optional<std::vector<ScenarioRange>> waits;
};

struct Scenario {
  std::string name;
  // Never null.
  std::shared_ptr<const PolicyTable> policy;
  std::vector<ScenarioCall> calls;
  // At least one.
  std::vector<ScenarioAnswer> server;
  std::vector<ScenarioExpectedCall> expect;

  bool has_grpc_call() const {
    for (const ScenarioCall& call : calls) {
      if (call.grpc.has_value()) return true;
    }
    return false;
  }
};

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_SCENARIO_H_
