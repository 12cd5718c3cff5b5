// ChannelVariant: one way to make a channel, to be measured.
//
//   const ChannelVariant* variant = FindVariant("redial");
//   auto stub = Echo::NewStub(variant->make("127.0.0.1:50051"));
#ifndef REDIAL_BENCHMARKS_CHANNEL_VARIANT_H_
#define REDIAL_BENCHMARKS_CHANNEL_VARIANT_H_

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace redial {

struct ChannelVariant {
  std::string name;
  std::function<std::shared_ptr<grpc::Channel>(const std::string& target)> make;
};

// In the order of the table in README.md.
const std::vector<ChannelVariant>& ChannelVariants();

// Null if there is none of that name.
const ChannelVariant* FindVariant(absl::string_view name);

}  // namespace redial

#endif  // REDIAL_BENCHMARKS_CHANNEL_VARIANT_H_
