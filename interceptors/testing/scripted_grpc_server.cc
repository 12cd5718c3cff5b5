#include "redial/testing/scripted_grpc_server.h"

#include <grpcpp/generic/async_generic_service.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redial/testing/scripted_grpc_call.h"
#include "redial/testing/status_details.h"
#include "redial/testing/tcp_relay.h"

namespace redial {

ScriptedGrpcAnswer ScriptedGrpcAnswer::Error(grpc::StatusCode code,
                                             const std::string& message) {
  ScriptedGrpcAnswer answer;
  answer.status = grpc::Status(code, message);
  return answer;
}

ScriptedGrpcAnswer ScriptedGrpcAnswer::Hang() {
  ScriptedGrpcAnswer answer;
  answer.hang = true;
  answer.messages = 0;
  return answer;
}

ScriptedGrpcAnswer ScriptedGrpcAnswer::Drop() {
  ScriptedGrpcAnswer answer;
  answer.drop = true;
  return answer;
}

ScriptedGrpcAnswer& ScriptedGrpcAnswer::After(absl::Duration after) {
  delay = after;
  return *this;
}

ScriptedGrpcAnswer& ScriptedGrpcAnswer::WithTrailer(absl::string_view name,
                                                    absl::string_view value) {
  trailers.emplace(std::string(name), std::string(value));
  return *this;
}

ScriptedGrpcAnswer& ScriptedGrpcAnswer::WithRetryInfo(
    absl::Duration retry_delay) {
  StatusDetails details;
  details.retry_delay = retry_delay;
  status = grpc::Status(
      status.error_code(), status.error_message(),
      EncodeStatusDetails(static_cast<absl::StatusCode>(status.error_code()),
                          status.error_message(), details));
  return *this;
}

class ScriptedGrpcServer::Service final : public grpc::CallbackGenericService,
                                          public ScriptedGrpcListener {
 public:
  explicit Service(AnswerFunction answer) : answer_(std::move(answer)) {}

  absl::Status StartRelay(int port) {
    auto relay = TcpRelay::Start(port);
    if (!relay.ok()) return relay.status();
    relay_ = *std::move(relay);
    return absl::OkStatus();
  }
  int relay_port() const { return relay_->port(); }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    ScriptedGrpcRequest request;
    request.method = context->method();
    for (const auto& [name, value] : context->client_metadata()) {
      request.metadata.emplace(std::string(name.data(), name.size()),
                               std::string(value.data(), value.size()));
    }
    const gpr_timespec deadline = context->raw_deadline();
    const gpr_timespec left =
        gpr_time_sub(deadline, gpr_now(deadline.clock_type));
    if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) != 0) {
      request.remaining =
          absl::Seconds(left.tv_sec) + absl::Nanoseconds(left.tv_nsec);
    }
    ScriptedGrpcAnswer answer;
    size_t number = 0;
    {
      std::lock_guard<std::mutex> lock(mu_);
      request.arrival = Now();
      answer = answer_(request);
      number = requests_.size();
      requests_.push_back(std::move(request));
      ++active_;
    }
    changed_.notify_all();
    return ScriptedGrpcCall::Start(context, std::move(answer), number, this);
  }

  void OnMessage(size_t request, std::string bytes) override {
    std::lock_guard<std::mutex> lock(mu_);
    requests_[request].messages.push_back(std::move(bytes));
  }
  void OnCancelled(size_t request) override {
    std::lock_guard<std::mutex> lock(mu_);
    requests_[request].cancelled = true;
  }
  void DropConnection(int peer_port) override {
    if (relay_ != nullptr) relay_->Drop(peer_port);
  }
  void OnCallOver() override {
    // Notified under the lock: the server may go away as soon as it is idle.
    std::lock_guard<std::mutex> lock(mu_);
    --active_;
    changed_.notify_all();
  }

  std::vector<ScriptedGrpcRequest> Requests() const {
    std::lock_guard<std::mutex> lock(mu_);
    return requests_;
  }
  bool WaitForRequests(size_t count, absl::Duration timeout) const {
    std::unique_lock<std::mutex> lock(mu_);
    return changed_.wait_for(lock, absl::ToChronoNanoseconds(timeout),
                             [&] { return requests_.size() >= count; });
  }
  bool WaitUntilIdle(absl::Duration timeout) const {
    std::unique_lock<std::mutex> lock(mu_);
    return changed_.wait_for(lock, absl::ToChronoNanoseconds(timeout),
                             [&] { return active_ == 0; });
  }

 private:
  const AnswerFunction answer_;
  std::unique_ptr<TcpRelay> relay_;

  mutable std::mutex mu_;
  mutable std::condition_variable changed_;
  std::vector<ScriptedGrpcRequest> requests_;
  int active_ = 0;
};

ScriptedGrpcServer::ScriptedGrpcServer(
    std::vector<ScriptedGrpcAnswer> answers) {
  if (answers.empty()) answers.push_back(ScriptedGrpcAnswer::Ok());
  const bool may_drop =
      std::any_of(answers.begin(), answers.end(),
                  [](const ScriptedGrpcAnswer& answer) { return answer.drop; });
  Start(
      [answers = std::move(answers),
       next = size_t{0}](const ScriptedGrpcRequest&) mutable {
        return answers[std::min(next++, answers.size() - 1)];
      },
      may_drop);
}

ScriptedGrpcServer::ScriptedGrpcServer(AnswerFunction answer, bool may_drop) {
  Start(std::move(answer), may_drop);
}

ScriptedGrpcServer::~ScriptedGrpcServer() { Shutdown(); }

void ScriptedGrpcServer::Start(AnswerFunction answer, bool may_drop) {
  service_ = std::make_unique<Service>(std::move(answer));
  int port = 0;
  grpc::ServerBuilder builder;
  // Two servers of one test must never share a port.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0) {
    status_ = absl::UnavailableError("cannot listen on 127.0.0.1");
    target_ = "127.0.0.1:1";
    return;
  }
  if (may_drop) {
    status_ = service_->StartRelay(port);
    if (status_.ok()) port = service_->relay_port();
  }
  target_ = absl::StrCat("127.0.0.1:", port);
}

std::vector<ScriptedGrpcRequest> ScriptedGrpcServer::Requests() const {
  return service_->Requests();
}

bool ScriptedGrpcServer::WaitForRequests(size_t count,
                                         absl::Duration timeout) const {
  return service_->WaitForRequests(count, timeout);
}

bool ScriptedGrpcServer::WaitUntilIdle(absl::Duration timeout) const {
  return service_->WaitUntilIdle(timeout);
}

void ScriptedGrpcServer::Shutdown() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  // gRPC lets go of a call a moment before the call itself is over.
  service_->WaitUntilIdle(absl::Seconds(10));
  server_ = nullptr;
}

Instant ScriptedGrpcServer::Now() {
  return Instant::FromEpoch(
      absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()));
}

}  // namespace redial
