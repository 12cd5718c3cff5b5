#include "tests/grpc/echo_backend.h"

#include <grpc/compression.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

// gRPC exports it, in no public header.
grpc_compression_algorithm grpc_call_test_only_get_compression_algorithm(
    grpc_call* call);

namespace redial {
namespace {

std::string CompressionOf(grpc_call* call) {
  const char* name = nullptr;
  grpc_compression_algorithm_name(
      grpc_call_test_only_get_compression_algorithm(call), &name);
  return name;
}

}  // namespace

class EchoBackend::Service final : public v1::Echo::Service {
 public:
  explicit Service(Handler handler) : handler_(std::move(handler)) {}

  grpc::Status Unary(grpc::ServerContext* context,
                     const v1::EchoRequest* request,
                     v1::EchoResponse* response) override {
    EchoArrival arrival;
    const grpc::string_ref authority = context->ExperimentalGetAuthority();
    arrival.authority.assign(authority.data(), authority.size());
    arrival.compression = CompressionOf(context->c_call());
    for (const auto& [name, value] : context->client_metadata()) {
      arrival.metadata.emplace(std::string(name.data(), name.size()),
                               std::string(value.data(), value.size()));
    }
    {
      const std::lock_guard<std::mutex> lock(mu_);
      arrival.number = static_cast<int>(arrivals_.size()) + 1;
      arrivals_.push_back(arrival);
    }
    response->set_text(request->text());
    response->set_attempt(arrival.number);
    return handler_(arrival, *context, *request, response);
  }
  grpc::Status UnaryIdempotent(grpc::ServerContext* context,
                               const v1::EchoRequest* request,
                               v1::EchoResponse* response) override {
    return Unary(context, request, response);
  }
  grpc::Status UnarySafe(grpc::ServerContext* context,
                         const v1::EchoRequest* request,
                         v1::EchoResponse* response) override {
    return Unary(context, request, response);
  }

  std::vector<EchoArrival> Arrivals() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return arrivals_;
  }

 private:
  const Handler handler_;
  mutable std::mutex mu_;
  std::vector<EchoArrival> arrivals_;
};

EchoBackend::EchoBackend(Handler handler, const std::string& address)
    : service_(std::make_unique<Service>(std::move(handler))) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(address.empty() ? "127.0.0.1:0" : address,
                           grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  target_ = address.empty() ? absl::StrCat("127.0.0.1:", port) : address;
}

EchoBackend::~EchoBackend() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

std::vector<EchoArrival> EchoBackend::Arrivals() const {
  return service_->Arrivals();
}

EchoBackend::Handler SucceedsAtAttempt(int number) {
  return [number](const EchoArrival& arrival, grpc::ServerContext&,
                  const v1::EchoRequest&, v1::EchoResponse*) {
    if (arrival.number >= number) return grpc::Status();
    return grpc::Status(grpc::StatusCode::UNAVAILABLE,
                        absl::StrCat("failure ", arrival.number));
  };
}

std::string UnusedLocalAddress() {
  static std::atomic<int> next{0};
  return absl::StrCat("unix-abstract:redial-test-", getpid(), "-",
                      next.fetch_add(1));
}

}  // namespace redial
