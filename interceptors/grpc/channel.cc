#include "redial/grpc/channel.h"

#include <utility>

#include "redial/grpc/interceptor_stack.h"

namespace redial {

std::shared_ptr<grpc::Channel> CreateChannel(
    const std::string& target,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    std::shared_ptr<const PolicyTable> policy, ChannelOptions options) {
  return InterceptorStack(std::move(policy), target, std::move(options))
      .CreateChannel(credentials);
}

std::shared_ptr<grpc::Channel> CreateChannel(
    const std::string& target,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    std::shared_ptr<LivePolicy> policy, ChannelOptions options) {
  return InterceptorStack(std::move(policy), target, std::move(options))
      .CreateChannel(credentials);
}

}  // namespace redial
