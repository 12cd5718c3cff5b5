// EchoBackend: a real gRPC server with a synchronous handler, for what a
// ScriptedGrpcServer cannot do: listen on a given address, see authority,
// compression and credentials, and make calls of its own.
#ifndef REDIAL_TESTS_GRPC_ECHO_BACKEND_H_
#define REDIAL_TESTS_GRPC_ECHO_BACKEND_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proto/redial/v1/echo.grpc.pb.h"

namespace redial {

// What arrived. Attempts are counted from 1, in order of arrival.
struct EchoArrival {
  int number = 1;
  std::string authority;
  // "identity", "gzip", ...
  std::string compression;
  std::multimap<std::string, std::string> metadata;
};

class EchoBackend {
 public:
  // Runs on a server thread for each request of any unary method; the response
  // holds the request's text already.
  using Handler =
      std::function<grpc::Status(const EchoArrival&, grpc::ServerContext&,
                                 const v1::EchoRequest&, v1::EchoResponse*)>;

  // Listens on a free loopback port, or on `address`.
  explicit EchoBackend(Handler handler, const std::string& address = "");
  ~EchoBackend();

  EchoBackend(const EchoBackend&) = delete;
  EchoBackend& operator=(const EchoBackend&) = delete;

  const std::string& target() const { return target_; }
  std::vector<EchoArrival> Arrivals() const;

 private:
  class Service;

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string target_;
};

// OK from the attempt with this number on, UNAVAILABLE "failure N" before it.
EchoBackend::Handler SucceedsAtAttempt(int number);

// An address that nobody else listens on.
std::string UnusedLocalAddress();

}  // namespace redial

#endif  // REDIAL_TESTS_GRPC_ECHO_BACKEND_H_
