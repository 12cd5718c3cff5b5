// Answers unary calls on a port of the loopback interface until its standard
// input ends, so that it cannot outlive the script that started it. Prints the
// port.
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/server_callback.h>

#include <iostream>
#include <limits>
#include <memory>

#include "proto/redial/v1/echo.grpc.pb.h"
#include "proto/redial/v1/echo.pb.h"

namespace redial {
namespace {

class EchoService final : public v1::Echo::CallbackService {
 public:
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context,
                                  const v1::EchoRequest* request,
                                  v1::EchoResponse* response) override {
    response->set_text(request->text());
    response->set_number(request->number());
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

int Run() {
  EchoService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::cerr << "cannot listen on 127.0.0.1\n";
    return 1;
  }
  std::cout << port << std::endl;
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  server->Shutdown();
  return 0;
}

}  // namespace
}  // namespace redial

int main() { return redial::Run(); }
