// ParentWatch: hears of the end of a server call while nothing of ours is in
// flight.
//
// gRPC propagates a server call's cancel and deadline to its child calls only.
// During a wait there is none, so this is one: a core call that is never
// started, whose status op completes when the server call ends.
#ifndef REDIAL_GRPC_PARENT_WATCH_H_
#define REDIAL_GRPC_PARENT_WATCH_H_

#include <grpcpp/client_context.h>
#include <grpcpp/impl/codegen/channel_interface.h>

#include <functional>
#include <memory>
#include <string>

namespace redial {

class ParentWatch {
 public:
  // `ended` runs at most once, on a thread of gRPC's, with DEADLINE_EXCEEDED or
  // CANCELLED. It may still be running when the destructor returns: what it
  // captures is kept alive by reference counting.
  ParentWatch(grpc::ChannelInterface* channel, grpc_call* server_call,
              const std::string& method,
              std::function<void(grpc::StatusCode)> ended);
  // Stops watching.
  ~ParentWatch();

  ParentWatch(const ParentWatch&) = delete;
  ParentWatch& operator=(const ParentWatch&) = delete;

 private:
  struct Sentinel;
  std::shared_ptr<Sentinel> sentinel_;
};

}  // namespace redial

#endif  // REDIAL_GRPC_PARENT_WATCH_H_
