// ChildAttempt: one attempt that redial makes itself, as a call of its own.
//
// It carries all that the caller's context had, runs through the whole list of
// the channel's factories (so that what stands behind redial runs again for
// each attempt), and delivers into the caller's own response object. Where
// redial's factory and the wrapped once-per-call factories stand in that list,
// ChildBeingCreated tells them to step aside.
//
// Owned by its call alone: gRPC's threads hold no reference to an attempt, for
// its context holds the channel, and gRPC cannot destroy a channel on them.
#ifndef REDIAL_GRPC_CHILD_ATTEMPT_H_
#define REDIAL_GRPC_CHILD_ATTEMPT_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_interceptor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "redial/core/instant.h"
#include "redial/grpc/response_codec.h"

namespace redial {

using SendMetadata = std::multimap<std::string, std::string>;

class ChildAttempt {
 public:
  struct Setup {
    // The caller's context and the metadata to send, both read in the
    // constructor only.
    grpc::ClientContext* caller = nullptr;
    const SendMetadata* metadata = nullptr;
    // Attempts made before: sent as metadata where it is not 0.
    int previous_attempts = 0;
    // Empty: not sent.
    std::string previous_attempts_name;
    Instant deadline = Instant::Infinite();
    // Makes the child a child of this server call too; null: as the caller's.
    grpc_call* server_call = nullptr;
    grpc::ByteBuffer request;
    void* response = nullptr;
    std::shared_ptr<const ResponseCodec> codec;
    // Whose attempt it is: only that channel's own factory puts the request in.
    const void* owner = nullptr;
  };
  explicit ChildAttempt(const Setup& setup);

  ChildAttempt(const ChildAttempt&) = delete;
  ChildAttempt& operator=(const ChildAttempt&) = delete;

  // Starts the call. `done` runs once, on a thread of gRPC's, never inside
  // Start; the attempt must live until then. `method` and `suffix` must outlive
  // the attempt.
  void Start(grpc::ChannelInterface* channel, const std::string& method,
             const char* suffix, std::function<void(grpc::Status)> done);

  // Thread-safe, also before Start.
  void Cancel() { context_.TryCancel(); }

  grpc::ClientContext& context() { return context_; }
  const void* owner() const { return owner_; }
  // After `done`: whether a message came and was parsed.
  bool got_message() const { return got_message_; }

 private:
  friend class ChildPlaceholder;

  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_bytes_;
  void* const response_;
  const std::shared_ptr<const ResponseCodec> codec_;
  const void* const owner_;
  bool got_message_ = false;
};

// The child attempt whose call this thread is creating right now, if
// `info` is of that call. A thread-local flag alone would also hide redial from
// an unrelated call that somebody's factory makes at that moment.
ChildAttempt* ChildBeingCreated(grpc::experimental::ClientRpcInfo* info);

// What stands at redial's place in a child: puts the kept bytes on the wire.
grpc::experimental::Interceptor* NewChildPlaceholder(ChildAttempt* child);
// What stands where an interceptor has to be and nothing is to be done.
grpc::experimental::Interceptor* NewPassThrough();

}  // namespace redial

#endif  // REDIAL_GRPC_CHILD_ATTEMPT_H_
