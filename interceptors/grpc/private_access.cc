#include "redial/grpc/private_access.h"

#ifndef REDIAL_NO_PRIVATE_ACCESS

#include <grpcpp/impl/codegen/call.h>
#include <grpcpp/impl/codegen/interceptor_common.h>
#include <grpcpp/impl/codegen/rpc_method.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace redial {
namespace {

using grpc::experimental::InterceptionHookPoints;
using BatchMethods = grpc::internal::InterceptorBatchMethodsImpl;

// Gives `Get(Tag())` the pointer to a private member.
template <typename Tag, typename Tag::Member member>
struct Expose {
  friend typename Tag::Member Get(Tag) { return member; }
};

// One tag per member; `Get` of a tag is found by argument-dependent lookup.
struct Ops {
  using Member = grpc::internal::CallOpSetInterface* BatchMethods::*;
  friend Member Get(Ops);
};
template struct Expose<Ops, &BatchMethods::ops_>;

struct Authority {
  using Member = std::string grpc::ClientContext::*;
  friend Member Get(Authority);
};
template struct Expose<Authority, &grpc::ClientContext::authority_>;

struct WaitForReady {
  using Member = bool grpc::ClientContext::*;
  friend Member Get(WaitForReady);
};
template struct Expose<WaitForReady, &grpc::ClientContext::wait_for_ready_>;

struct WaitForReadySet {
  using Member = bool grpc::ClientContext::*;
  friend Member Get(WaitForReadySet);
};
template struct Expose<WaitForReadySet,
                       &grpc::ClientContext::wait_for_ready_explicitly_set_>;

struct Corked {
  using Member = bool grpc::ClientContext::*;
  friend Member Get(Corked);
};
template struct Expose<Corked, &grpc::ClientContext::initial_metadata_corked_>;

struct Parent {
  using Member = grpc_call* grpc::ClientContext::*;
  friend Member Get(Parent);
};
template struct Expose<Parent, &grpc::ClientContext::propagate_from_call_>;

struct Propagation {
  using Member = grpc::PropagationOptions grpc::ClientContext::*;
  friend Member Get(Propagation);
};
template struct Expose<Propagation, &grpc::ClientContext::propagation_options_>;

struct ChannelReference {
  using Member = std::shared_ptr<grpc::Channel> grpc::ClientContext::*;
  friend Member Get(ChannelReference);
};
template struct Expose<ChannelReference, &grpc::ClientContext::channel_>;

struct CreateCall {
  using Member = grpc::internal::Call (grpc::ChannelInterface::*)(
      const grpc::internal::RpcMethod&, grpc::ClientContext*,
      grpc::CompletionQueue*, size_t);
  friend Member Get(CreateCall);
};
template struct Expose<CreateCall, &grpc::ChannelInterface::CreateCallInternal>;

struct Interceptors {
  using Member = std::vector<std::unique_ptr<grpc::experimental::Interceptor>>
      grpc::experimental::ClientRpcInfo::*;
  friend Member Get(Interceptors);
};
template struct Expose<Interceptors,
                       &grpc::experimental::ClientRpcInfo::interceptors_>;

}  // namespace

bool HasPrivateAccess() { return true; }

bool HasInterceptorAhead(
    grpc::experimental::ClientRpcInfo* info,
    bool (*wanted)(const grpc::experimental::Interceptor* interceptor)) {
  for (const auto& interceptor : info->*Get(Interceptors())) {
    if (wanted(interceptor.get())) return true;
  }
  return false;
}

grpc_call* CreateBareCall(grpc::ChannelInterface* channel, const char* method,
                          grpc::ClientContext* context,
                          grpc::CompletionQueue* queue) {
  // A position behind every factory: none is asked.
  constexpr size_t kBehindAll = std::numeric_limits<size_t>::max();
  const grpc::internal::RpcMethod rpc(method,
                                      grpc::internal::RpcMethod::NORMAL_RPC);
  grpc_call* const call =
      (channel->*Get(CreateCall()))(rpc, context, queue, kBehindAll).call();
  (context->*Get(ChannelReference())).reset();
  return call;
}

void MarkMessageReceived(grpc::experimental::InterceptorBatchMethods* methods,
                         void* response, bool* failed) {
  auto* batch = static_cast<BatchMethods*>(methods);
  constexpr std::array<InterceptionHookPoints, 4> kPostHooks = {
      InterceptionHookPoints::POST_SEND_MESSAGE,
      InterceptionHookPoints::POST_RECV_INITIAL_METADATA,
      InterceptionHookPoints::POST_RECV_MESSAGE,
      InterceptionHookPoints::POST_RECV_STATUS};
  std::array<bool, kPostHooks.size()> was_set{};
  for (size_t i = 0; i < kPostHooks.size(); ++i) {
    was_set[i] = batch->QueryInterceptionHookPoint(kPostHooks[i]);
  }
  // Sets got_message, and leaves PRE_RECV hooks behind that nobody may see.
  (batch->*Get(Ops()))->SetHijackingState();
  batch->SetReverse();
  for (size_t i = 0; i < kPostHooks.size(); ++i) {
    if (was_set[i]) batch->AddInterceptionHookPoint(kPostHooks[i]);
  }
  batch->SetRecvMessage(response, failed);
}

void CarryHiddenSettings(const grpc::ClientContext& from,
                         grpc::ClientContext* to) {
  to->set_authority(from.*Get(Authority()));
  to->*Get(WaitForReady()) = from.*Get(WaitForReady());
  to->*Get(WaitForReadySet()) = from.*Get(WaitForReadySet());
  to->*Get(Corked()) = from.*Get(Corked());
  to->*Get(Parent()) = from.*Get(Parent());
  to->*Get(Propagation()) = from.*Get(Propagation());
}

grpc_call* ServerCallOf(const grpc::ClientContext& context) {
  return context.*Get(Parent());
}

bool SetServerCall(grpc::ClientContext* context, grpc_call* server_call) {
  context->*Get(Parent()) = server_call;
  return true;
}

}  // namespace redial

#else  // REDIAL_NO_PRIVATE_ACCESS

namespace redial {

bool HasPrivateAccess() { return false; }

void MarkMessageReceived(grpc::experimental::InterceptorBatchMethods*, void*,
                         bool*) {}

void CarryHiddenSettings(const grpc::ClientContext&, grpc::ClientContext*) {}

grpc_call* ServerCallOf(const grpc::ClientContext&) { return nullptr; }

bool SetServerCall(grpc::ClientContext*, grpc_call*) { return false; }

bool HasInterceptorAhead(grpc::experimental::ClientRpcInfo*,
                         bool (*)(const grpc::experimental::Interceptor*)) {
  return false;
}

grpc_call* CreateBareCall(grpc::ChannelInterface*, const char*,
                          grpc::ClientContext*, grpc::CompletionQueue*) {
  return nullptr;
}

}  // namespace redial

#endif  // REDIAL_NO_PRIVATE_ACCESS
