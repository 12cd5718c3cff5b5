// ScriptedGrpcServer: a real gRPC server on loopback that answers from a list.
//
// It serves every method, with any message type, and records what arrived.
// Answers are given in the order in which requests arrive; the last one repeats
// for ever. Nothing sleeps: delays are timers. Thread-safe. The destructor ends
// calls that still hang.
//
//   ScriptedGrpcServer server({ScriptedGrpcAnswer::Error(UNAVAILABLE,
//   "warming"),
//                              ScriptedGrpcAnswer::Ok()});
//   auto channel = grpc::CreateChannel(server.target(), credentials);
//   ...
//   EXPECT_THAT(server.Requests(), SizeIs(2));
#ifndef REDIAL_TESTING_SCRIPTED_GRPC_SERVER_H_
#define REDIAL_TESTING_SCRIPTED_GRPC_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/instant.h"

namespace redial {

struct ScriptedGrpcAnswer {
  // The request's own bytes, and OK.
  static ScriptedGrpcAnswer Ok() { return ScriptedGrpcAnswer(); }
  // Sent as trailers only, unless there is initial metadata: headers would
  // commit the call.
  static ScriptedGrpcAnswer Error(grpc::StatusCode code,
                                  const std::string& message = "");
  // Never answers; the request notes when the client gave up.
  static ScriptedGrpcAnswer Hang();
  // Breaks the connection without an answer.
  static ScriptedGrpcAnswer Drop();

  ScriptedGrpcAnswer& After(absl::Duration delay);
  ScriptedGrpcAnswer& WithTrailer(absl::string_view name,
                                  absl::string_view value);
  // google.rpc.RetryInfo in the status details.
  ScriptedGrpcAnswer& WithRetryInfo(absl::Duration delay);

  // With serialized google.rpc.Status bytes as its details, where wanted.
  grpc::Status status;
  // Sent as headers, before the status. Names in lower case; what gRPC would
  // not send is left out.
  std::multimap<std::string, std::string> initial_metadata;
  // Sends headers even if there is no initial metadata.
  bool send_headers = false;
  std::multimap<std::string, std::string> trailers;
  // From the arrival of the request to the answer.
  absl::Duration delay;
  bool hang = false;
  bool drop = false;
  // Messages before the status. By default one for OK and none for an error; a
  // unary call needs that.
  absl::optional<int> messages;
  // The bytes of each message. By default those of the first one received.
  absl::optional<std::string> body;
};

struct ScriptedGrpcRequest {
  // "/pkg.Service/Method".
  std::string method;
  // All that the client sent, with gRPC's own user-agent; values of names that
  // end in -bin are bytes.
  std::multimap<std::string, std::string> metadata;
  // On the clock of ScriptedGrpcServer::Now().
  Instant arrival;
  // What was left until the call's deadline; infinite if it had none.
  absl::Duration remaining = absl::InfiniteDuration();
  // The serialized messages received so far.
  std::vector<std::string> messages;
  // The client, or its deadline, ended the call before the answer was out.
  bool cancelled = false;
};

class ScriptedGrpcServer {
 public:
  // Called as requests arrive, one at a time; must not call the server.
  using AnswerFunction =
      std::function<ScriptedGrpcAnswer(const ScriptedGrpcRequest&)>;

  // Listens on a free port. An empty list answers OK.
  explicit ScriptedGrpcServer(std::vector<ScriptedGrpcAnswer> answers);
  // For answers that depend on the request. `may_drop`: there may be drops, so
  // that a relay has to stand before the server.
  ScriptedGrpcServer(AnswerFunction answer, bool may_drop);
  ~ScriptedGrpcServer();

  ScriptedGrpcServer(const ScriptedGrpcServer&) = delete;
  ScriptedGrpcServer& operator=(const ScriptedGrpcServer&) = delete;

  // Whether the server could start.
  const absl::Status& status() const { return status_; }
  // "127.0.0.1:port".
  const std::string& target() const { return target_; }

  // What has arrived, in order, dropped requests too.
  std::vector<ScriptedGrpcRequest> Requests() const;
  // Waits until so many requests have arrived. False if they have not in time.
  bool WaitForRequests(size_t count,
                       absl::Duration timeout = absl::Seconds(10)) const;
  // Waits until no request is being served: whether one was cancelled is then
  // known. False if some still are.
  bool WaitUntilIdle(absl::Duration timeout = absl::Seconds(10)) const;

  // Ends all calls and stops. The destructor does it too.
  void Shutdown();

  // The monotonic clock of `arrival`.
  static Instant Now();

 private:
  class Service;

  void Start(AnswerFunction answer, bool may_drop);

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  absl::Status status_;
  std::string target_;
};

}  // namespace redial

#endif  // REDIAL_TESTING_SCRIPTED_GRPC_SERVER_H_
