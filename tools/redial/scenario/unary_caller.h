// CallUnary: one unary call through one of gRPC's four C++ APIs.
//
// Returns when the call is over, whatever the API. Thread-safe. Works for any
// method name, with the messages of the test service.
//
//   grpc::Status status = CallUnary(GrpcApi::kReactor, channel,
//                                   "/redial.v1.Echo/Unary", &context, request,
//                                   &response);
#ifndef TOOLS_REDIAL_SCENARIO_UNARY_CALLER_H_
#define TOOLS_REDIAL_SCENARIO_UNARY_CALLER_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "proto/redial/v1/echo.pb.h"
#include "tools/redial/scenario/scenario.h"

namespace redial {

// `method` must live as long as `context`: gRPC keeps a pointer to it.
grpc::Status CallUnary(GrpcApi api,
                       const std::shared_ptr<grpc::Channel>& channel,
                       const std::string& method, grpc::ClientContext* context,
                       const redial::v1::EchoRequest& request,
                       redial::v1::EchoResponse* response);

}  // namespace redial

#endif  // TOOLS_REDIAL_SCENARIO_UNARY_CALLER_H_
