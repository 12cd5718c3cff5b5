// RetryInterceptorFactory: puts redial into the calls of a channel.
//
// An ordinary ClientInterceptorFactoryInterface. One per channel;
// InterceptorStack makes it and puts it at its place. For a call that no
// policy, option or scope concerns it makes no interceptor at all.
#ifndef REDIAL_GRPC_RETRY_INTERCEPTOR_H_
#define REDIAL_GRPC_RETRY_INTERCEPTOR_H_

#include <grpcpp/support/client_interceptor.h>

#include <memory>

#include "redial/grpc/channel_runtime.h"

namespace redial {

class RetryInterceptorFactory final
    : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  // `factories_behind`: other factories may stand behind this one. gRPC counts
  // positions in two ways, so a place must then never stay empty.
  RetryInterceptorFactory(std::shared_ptr<ChannelRuntime> runtime,
                          bool factories_behind)
      : runtime_(std::move(runtime)), factories_behind_(factories_behind) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* info) override;

 private:
  grpc::experimental::Interceptor* NoInterceptor() const;

  const std::shared_ptr<ChannelRuntime> runtime_;
  const bool factories_behind_;
};

// Wraps a user's factory whose interceptors are to see each call once, however
// many attempts it takes.
std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>
PerCallFactory(
    std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>
        factory);

// Wraps a user's factory whose interceptors are to see each attempt.
std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>
PerAttemptFactory(
    std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>
        factory);

}  // namespace redial

#endif  // REDIAL_GRPC_RETRY_INTERCEPTOR_H_
