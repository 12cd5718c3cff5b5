// PrivateAccess: the only file that touches private members of gRPC.
//
// Two things have no public way in gRPC C++: telling an op set that it got a
// message (else a retry that succeeds becomes UNIMPLEMENTED on a sync stub),
// and reading five settings of a ClientContext that a child call must carry.
// Explicit template instantiation may name private members (C++17
// [temp.explicit]/12), so this is standard C++ and checked at compile time: if
// gRPC renames a member this file does not compile.
//
// Built with --define=redial_private_access=off, nothing here touches a private
// member: the driver then owns every first attempt, and the five settings are
// not carried to attempts that redial makes.
#ifndef REDIAL_GRPC_PRIVATE_ACCESS_H_
#define REDIAL_GRPC_PRIVATE_ACCESS_H_

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/impl/codegen/channel_interface.h>
#include <grpcpp/support/client_interceptor.h>
#include <grpcpp/support/interceptor.h>

namespace redial {

// Whether this build can take over a call that gRPC made.
bool HasPrivateAccess();

// In a POST stage: makes the op set of `methods` believe that it received
// `response`, and restores what interceptors outside of us are to see. The
// batch must hold a receive-message op. `failed` is scratch memory that lives
// as long as the batch.
void MarkMessageReceived(grpc::experimental::InterceptorBatchMethods* methods,
                         void* response, bool* failed);

// Authority, wait_for_ready (and whether it was set), corking, the server call
// that it belongs to and what is propagated from it.
void CarryHiddenSettings(const grpc::ClientContext& from,
                         grpc::ClientContext* to);

// The server call that `context` was made from, null if none (or not visible).
grpc_call* ServerCallOf(const grpc::ClientContext& context);

// Makes `context`, of which no call was made yet, a child of `server_call`.
// False where this build cannot.
bool SetServerCall(grpc::ClientContext* context, grpc_call* server_call);

// Whether an interceptor that `wanted` accepts stands in front of the place
// where `info`'s factories have got to. False where this build cannot see it.
bool HasInterceptorAhead(
    grpc::experimental::ClientRpcInfo* info,
    bool (*wanted)(const grpc::experimental::Interceptor* interceptor));

// Creates a core call on `channel` that runs no interceptor, owned by `context`
// and never started. The context does not hold the channel: it may be destroyed
// on a thread of gRPC's, where a channel may not. Only where
// HasPrivateAccess().
grpc_call* CreateBareCall(grpc::ChannelInterface* channel, const char* method,
                          grpc::ClientContext* context,
                          grpc::CompletionQueue* queue);

}  // namespace redial

#endif  // REDIAL_GRPC_PRIVATE_ACCESS_H_
