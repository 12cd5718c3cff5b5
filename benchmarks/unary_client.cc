// Makes successful unary calls on one kind of channel, one after the other.
// tools/bench counts its instructions.
//
//   unary_client VARIANT HOST:PORT CALLS
//   unary_client --list
#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "benchmarks/channel_variant.h"
#include "proto/redial/v1/echo.grpc.pb.h"
#include "proto/redial/v1/echo.pb.h"

namespace redial {
namespace {

// Connects, fills caches, settles HPACK's table and the channel's windows.
constexpr int kWarmUpCalls = 200;
constexpr int kMaxCalls = 1000000;

bool MakeCalls(v1::Echo::Stub& stub, int calls) {
  for (int number = 1; number <= calls; ++number) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(5));
    v1::EchoRequest request;
    request.set_text("hello");
    request.set_number(number);
    v1::EchoResponse response;
    const grpc::Status status = stub.Unary(&context, request, &response);
    if (!status.ok() || response.number() != number) {
      std::cerr << "call " << number << ": code " << status.error_code() << " "
                << status.error_message() << "\n";
      return false;
    }
  }
  return true;
}

int Run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const ChannelVariant& variant : ChannelVariants()) {
      std::cout << variant.name << "\n";
    }
    return 0;
  }
  int calls = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[3], &calls) || calls < 1 ||
      calls > kMaxCalls) {
    std::cerr << "usage: unary_client VARIANT HOST:PORT CALLS | --list\n";
    return 2;
  }
  const ChannelVariant* const variant = FindVariant(argv[1]);
  if (variant == nullptr) {
    std::cerr << "no variant '" << argv[1] << "': see --list\n";
    return 2;
  }
  const auto stub = v1::Echo::NewStub(variant->make(argv[2]));
  return MakeCalls(*stub, kWarmUpCalls) && MakeCalls(*stub, calls) ? 0 : 1;
}

}  // namespace
}  // namespace redial

int main(int argc, char** argv) { return redial::Run(argc, argv); }
