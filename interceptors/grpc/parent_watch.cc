#include "redial/grpc/parent_watch.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "redial/grpc/private_access.h"

namespace redial {
namespace {

// One callback queue for all watches of the process; never shut down.
grpc::CompletionQueue* WatchQueue() {
  static grpc::CompletionQueue* const queue = [] {
    static grpc_completion_queue_functor nothing{};
    nothing.functor_run = [](grpc_completion_queue_functor*, int) {};
    return new grpc::CompletionQueue(
        grpc_completion_queue_create_for_callback(&nothing, nullptr));
  }();
  return queue;
}

}  // namespace

struct ParentWatch::Sentinel {
  grpc::ClientContext context;
  std::function<void(grpc::StatusCode)> ended;
  std::atomic<bool> stopped{false};
  // While the status op is pending.
  std::shared_ptr<Sentinel> self;

  grpc_metadata_array trailers{};
  grpc_status_code code = GRPC_STATUS_OK;
  grpc_slice details = grpc_empty_slice();
  const char* error = nullptr;

  ~Sentinel() {
    grpc_metadata_array_destroy(&trailers);
    grpc_slice_unref(details);
    gpr_free(const_cast<char*>(error));
  }

  static void Run(grpc_completion_queue_functor* functor, int) {
    // The functor is the first member of its Tag.
    auto* tag = reinterpret_cast<Tag*>(functor);
    const std::shared_ptr<Sentinel> sentinel = std::move(tag->owner->self);
    if (!sentinel->stopped.exchange(true)) {
      sentinel->ended(static_cast<grpc::StatusCode>(sentinel->code));
    }
    sentinel->ended = nullptr;
  }

  struct Tag {
    grpc_completion_queue_functor functor;
    Sentinel* owner;
  };
  Tag tag{};
};

ParentWatch::ParentWatch(grpc::ChannelInterface* channel,
                         grpc_call* server_call, const std::string& method,
                         std::function<void(grpc::StatusCode)> ended)
    : sentinel_(std::make_shared<Sentinel>()) {
  sentinel_->ended = std::move(ended);
  if (!SetServerCall(&sentinel_->context, server_call)) return;
  grpc_call* const call = CreateBareCall(channel, method.c_str(),
                                         &sentinel_->context, WatchQueue());
  sentinel_->tag.functor.functor_run = &Sentinel::Run;
  sentinel_->tag.owner = sentinel_.get();
  grpc_metadata_array_init(&sentinel_->trailers);
  grpc_op op;
  std::memset(&op, 0, sizeof(op));
  op.op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  op.data.recv_status_on_client.trailing_metadata = &sentinel_->trailers;
  op.data.recv_status_on_client.status = &sentinel_->code;
  op.data.recv_status_on_client.status_details = &sentinel_->details;
  op.data.recv_status_on_client.error_string = &sentinel_->error;
  sentinel_->self = sentinel_;
  if (grpc_call_start_batch(call, &op, 1, &sentinel_->tag.functor, nullptr) !=
      GRPC_CALL_OK) {
    sentinel_->self = nullptr;
  }
}

ParentWatch::~ParentWatch() {
  if (!sentinel_->stopped.exchange(true)) sentinel_->context.TryCancel();
}

}  // namespace redial
