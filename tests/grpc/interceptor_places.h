// The places where a user's interceptor may stand, and channels that have one.
#ifndef REDIAL_TESTS_GRPC_INTERCEPTOR_PLACES_H_
#define REDIAL_TESTS_GRPC_INTERCEPTOR_PLACES_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <utility>
#include <vector>

#include "redial/grpc/interceptor_stack.h"
#include "redial/testing/scripted_grpc_server.h"
#include "tests/grpc/unary_harness.h"

namespace redial {

enum class Place { kPerCall, kPerAttempt, kBehindFactories };
inline constexpr Place kPlaces[] = {Place::kPerCall, Place::kPerAttempt,
                                    Place::kBehindFactories};
inline const char* PlaceName(Place place) {
  switch (place) {
    case Place::kPerCall:
      return "per call";
    case Place::kPerAttempt:
      return "per attempt";
    case Place::kBehindFactories:
      return "behind Factories()";
  }
  return "";
}

using UserFactory = InterceptorStack::Factory;

inline std::shared_ptr<grpc::Channel> ChannelWith(
    const ScriptedGrpcServer& server, const CallStyle& style, Place place,
    std::vector<std::unique_ptr<UserFactory>> users,
    const EchoPolicy& policy = {}) {
  InterceptorStack stack(MakePolicyTable(policy), server.target(),
                         TestChannelOptions(style.mode));
  for (auto& user : users) {
    if (place == Place::kPerCall) stack.AddPerCall(std::move(user));
    if (place == Place::kPerAttempt) stack.AddPerAttempt(std::move(user));
  }
  auto factories = stack.Factories();
  if (place == Place::kBehindFactories) {
    for (auto& user : users) factories.push_back(std::move(user));
  }
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      server.target(), grpc::InsecureChannelCredentials(),
      stack.ChannelArguments(), std::move(factories));
}

inline std::shared_ptr<grpc::Channel> ChannelWith(
    const ScriptedGrpcServer& server, const CallStyle& style, Place place,
    std::unique_ptr<UserFactory> user, const EchoPolicy& policy = {}) {
  std::vector<std::unique_ptr<UserFactory>> users;
  users.push_back(std::move(user));
  return ChannelWith(server, style, place, std::move(users), policy);
}

}  // namespace redial

#endif  // REDIAL_TESTS_GRPC_INTERCEPTOR_PLACES_H_
