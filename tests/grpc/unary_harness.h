// UnaryHarness: makes one unary call in any of gRPC's API styles, and says what
// the application saw. For tests of the driver.
#ifndef REDIAL_TESTS_GRPC_UNARY_HARNESS_H_
#define REDIAL_TESTS_GRPC_UNARY_HARNESS_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/redial/v1/echo.grpc.pb.h"
#include "redial/core/call_options.h"
#include "redial/core/call_report.h"
#include "redial/core/policy_table.h"
#include "redial/grpc/channel_options.h"

namespace redial {

enum class UnaryApi {
  kSync,
  kCompletionQueue,
  // ReadInitialMetadata first, and its tag awaited before Finish.
  kCompletionQueueInitial,
  kCallback,
  kReactor,
};
std::string UnaryApiName(UnaryApi api);

// An API style in a driver mode.
struct CallStyle {
  UnaryApi api = UnaryApi::kSync;
  DriverMode mode = DriverMode::kNativeFirst;
};
// All of them, named "ReactorOwned".
std::vector<CallStyle> AllCallStyles();
std::string CallStyleName(const CallStyle& style);

// Whether redial makes the first attempt of a retryable call itself: in the
// owned mode, and in both where the build has no private access.
bool OwnsFirstAttempt(DriverMode mode);

// Options of a channel that shares no connection with another test's.
ChannelOptions TestChannelOptions(DriverMode mode = DriverMode::kNativeFirst);

enum class EchoMethod { kUnary, kUnaryIdempotent, kUnarySafe };

struct UnarySpec {
  EchoMethod method = EchoMethod::kUnary;
  std::string text = "hello";
  absl::Duration deadline = absl::Seconds(20);
  // Runs on the context before the call is made.
  std::function<void(grpc::ClientContext&)> prepare;
  // Runs once the call was made (for kSync: on another thread), while it is in
  // flight.
  std::function<void(grpc::ClientContext&)> meanwhile;
  // Runs when the call is over, before its context is destroyed: a thread that
  // may still be in TryCancel is awaited here.
  std::function<void()> afterwards;
  CallOptions options;
};

struct UnaryResult {
  grpc::Status status;
  v1::EchoResponse response;
  std::multimap<std::string, std::string> initial_metadata;
  std::multimap<std::string, std::string> trailers;
  CallReport report;
  absl::Duration elapsed;
  // kCompletionQueue: the tag's ok.
  bool ok = true;
};

UnaryResult CallUnary(const std::shared_ptr<grpc::Channel>& channel,
                      UnaryApi api, const UnarySpec& spec = {});

// A policy for every method of the echo service: short exact waits.
struct EchoPolicy {
  int max_attempts = 3;
  absl::Duration backoff = absl::Milliseconds(10);
  // Empty: redial's own default classes.
  CodeSet codes = {absl::StatusCode::kUnavailable};
  absl::Duration attempt_timeout = absl::InfiniteDuration();
  absl::Duration timeout = absl::InfiniteDuration();
  // Last touch.
  std::function<void(MethodPolicy&)> adjust;
};
std::shared_ptr<const PolicyTable> MakePolicyTable(const EchoPolicy& policy);

// The one value of `name`, "" if there is none, "<several>" if there are more.
std::string OneValue(const std::multimap<std::string, std::string>& metadata,
                     absl::string_view name);

}  // namespace redial

#endif  // REDIAL_TESTS_GRPC_UNARY_HARNESS_H_
