// CreateChannel: a gRPC channel whose calls go through redial.
//
//   auto policy = redial::ServiceConfig::FromJsonFile("service_config.json");
//   auto channel = redial::CreateChannel("dns:///greeter:443", credentials,
//                                        *policy);
//   auto stub = Greeter::NewStub(channel);   // an ordinary stub
#ifndef REDIAL_GRPC_CHANNEL_H_
#define REDIAL_GRPC_CHANNEL_H_

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "redial/core/policy_table.h"
#include "redial/grpc/channel_options.h"

namespace redial {

// Like grpc::CreateChannel. A null policy switches redial off. For interceptors
// of one's own, or to drain and shut down, use InterceptorStack.
std::shared_ptr<grpc::Channel> CreateChannel(
    const std::string& target,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    std::shared_ptr<const PolicyTable> policy, ChannelOptions options = {});

// With a policy that can be exchanged while calls run.
std::shared_ptr<grpc::Channel> CreateChannel(
    const std::string& target,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    std::shared_ptr<LivePolicy> policy, ChannelOptions options = {});

}  // namespace redial

#endif  // REDIAL_GRPC_CHANNEL_H_
