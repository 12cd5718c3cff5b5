// The shortest program that uses redial: an ordinary stub, whose calls survive
// a bad server as the service config says.
//
//   quickstart TARGET SERVICE_CONFIG
#include <grpcpp/grpcpp.h>

#include <iostream>

#include "proto/redial/v1/echo.grpc.pb.h"
#include "redial/config/service_config.h"
#include "redial/grpc/channel.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: quickstart TARGET SERVICE_CONFIG\n";
    return 2;
  }
  // [quickstart]
  auto policy = redial::ServiceConfig::FromJsonFile(argv[2]);
  if (!policy.ok()) {
    std::cerr << policy.status().message() << "\n";
    return 1;
  }
  auto channel = redial::CreateChannel(
      argv[1], grpc::InsecureChannelCredentials(), *policy);
  auto stub = redial::v1::Echo::NewStub(channel);  // ordinary from here on

  grpc::ClientContext context;
  redial::v1::EchoRequest request;
  request.set_text("hello");
  redial::v1::EchoResponse response;
  grpc::Status status = stub->Unary(&context, request, &response);
  // [quickstart]
  std::cout << (status.ok() ? response.text() : status.error_message()) << "\n";
  return status.ok() ? 0 : 1;
}
