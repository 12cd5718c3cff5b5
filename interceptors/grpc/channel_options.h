// ChannelOptions: how redial works on one channel.
#ifndef REDIAL_GRPC_CHANNEL_OPTIONS_H_
#define REDIAL_GRPC_CHANNEL_OPTIONS_H_

#include <grpcpp/support/channel_arguments.h>

#include <functional>
#include <memory>
#include <string>

#include "redial/core/call_observer.h"
#include "redial/core/random_source.h"
#include "redial/grpc/response_codec.h"

namespace redial {

// How a call's first attempt is made.
enum class DriverMode {
  // By the application's own call, untouched; redial steps in when it failed.
  // Costs least. Where an earlier deadline has to go on the wire the first
  // attempt is redial's own.
  kNativeFirst,
  // Always by redial. For a gRPC whose private members have moved.
  kAlwaysOwned,
};

struct ChannelOptions {
  DriverMode mode = DriverMode::kNativeFirst;
  // Null: protobuf.
  std::shared_ptr<const ResponseCodec> codec;
  // Null: nobody watches.
  std::shared_ptr<CallObserver> observer;
  // Jitter and generated keys; must outlive the channel. Null: SharedRandom().
  RandomSource* random = nullptr;
  // Makes the idempotency keys of methods whose policy has them generated, in
  // place of the UUID v4. Runs once per call, on the caller's thread.
  std::function<std::string(RandomSource&)> key_generator;
  // The server name of A6's retry throttling: channels with the same name share
  // one throttle. Empty: the channel's target.
  std::string throttle_name;
  // core's retry filter: it makes transparent retries of requests that provably
  // were not processed. Off saves its cost (benchmarks/README.md).
  bool transparent_retries = true;
  // Service configs that a resolver delivers would replace the one set on the
  // channel and could arm core's own retries.
  bool resolver_service_config = false;
  // The application's own. A service config in them is replaced.
  grpc::ChannelArguments arguments;
};

}  // namespace redial

#endif  // REDIAL_GRPC_CHANNEL_OPTIONS_H_
