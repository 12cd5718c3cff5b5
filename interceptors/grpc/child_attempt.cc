#include "redial/grpc/child_attempt.h"

#include <grpc/compression.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/empty.pb.h"
#include "google/protobuf/message_lite.h"
#include "redial/core/policy.h"
#include "redial/grpc/grpc_clock.h"
#include "redial/grpc/private_access.h"

namespace redial {
namespace {

using google::protobuf::MessageLite;
using grpc::experimental::InterceptionHookPoints;

// ClientContext keeps the compression algorithm as metadata of its own.
constexpr char kCompressionRequest[] = "grpc-internal-encoding-request";

thread_local ChildAttempt* creating = nullptr;

class PassThrough final : public grpc::experimental::Interceptor {
 public:
  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    methods->Proceed();
  }
};

// The channel outlives the child: the caller's context holds it.
std::shared_ptr<grpc::ChannelInterface> Borrow(
    grpc::ChannelInterface* channel) {
  return std::shared_ptr<grpc::ChannelInterface>(
      std::shared_ptr<grpc::ChannelInterface>(), channel);
}

}  // namespace

class ChildPlaceholder final : public grpc::experimental::Interceptor {
 public:
  explicit ChildPlaceholder(ChildAttempt* child) : child_(child) {}

  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      *methods->GetSerializedSendMessage() = child_->request_;
      // The message is on its way: what is kept for later attempts is the
      // call's own.
      child_->request_.Clear();
    }
    if (methods->QueryInterceptionHookPoint(
            InterceptionHookPoints::POST_RECV_MESSAGE)) {
      child_->got_message_ = methods->GetRecvMessage() != nullptr;
    }
    methods->Proceed();
  }

 private:
  // Owns the context that owns this.
  ChildAttempt* const child_;
};

ChildAttempt* ChildBeingCreated(grpc::experimental::ClientRpcInfo* info) {
  return creating != nullptr && info->client_context() == &creating->context()
             ? creating
             : nullptr;
}

grpc::experimental::Interceptor* NewChildPlaceholder(ChildAttempt* child) {
  return new ChildPlaceholder(child);
}

grpc::experimental::Interceptor* NewPassThrough() { return new PassThrough; }

ChildAttempt::ChildAttempt(const Setup& setup)
    : request_(setup.request),
      response_(setup.response),
      codec_(setup.codec),
      owner_(setup.owner) {
  context_.set_deadline(TimespecFromInstant(setup.deadline));
  CarryHiddenSettings(*setup.caller, &context_);
  if (setup.server_call != nullptr) {
    SetServerCall(&context_, setup.server_call);
  }
  context_.set_credentials(setup.caller->credentials());
  context_.set_census_context(setup.caller->census_context());
  for (const auto& entry : *setup.metadata) {
    if (entry.first == kCompressionRequest) {
      context_.set_compression_algorithm(setup.caller->compression_algorithm());
      continue;
    }
    if (entry.first == setup.previous_attempts_name ||
        entry.first == kGrpcPreviousAttemptsName) {
      continue;
    }
    context_.AddMetadata(entry.first, entry.second);
  }
  if (setup.previous_attempts > 0) {
    const std::string count = absl::StrCat(setup.previous_attempts);
    if (!setup.previous_attempts_name.empty()) {
      context_.AddMetadata(setup.previous_attempts_name, count);
    }
    context_.AddMetadata(kGrpcPreviousAttemptsName, count);
  }
}

void ChildAttempt::Start(grpc::ChannelInterface* channel,
                         const std::string& method, const char* suffix,
                         std::function<void(grpc::Status)> done) {
  grpc::StubOptions options;
  if (suffix != nullptr) options = grpc::StubOptions(suffix);
  ChildAttempt* const outer = creating;
  creating = this;
  if (codec_->is_protobuf()) {
    static const google::protobuf::Empty* const kNoRequest =
        new google::protobuf::Empty;
    grpc::TemplatedGenericStub<MessageLite, MessageLite> stub(Borrow(channel));
    stub.UnaryCall(&context_, method, options,
                   static_cast<const MessageLite*>(kNoRequest),
                   static_cast<MessageLite*>(response_), std::move(done));
  } else {
    static const grpc::ByteBuffer* const kNoRequest = new grpc::ByteBuffer;
    grpc::GenericStub stub(Borrow(channel));
    stub.UnaryCall(
        &context_, method, options, kNoRequest, &response_bytes_,
        [this, done = std::move(done)](grpc::Status status) {
          if (got_message_) {
            got_message_ =
                codec_->Deserialize(&response_bytes_, response_).ok();
          }
          done(std::move(status));
        });
  }
  creating = outer;
}

}  // namespace redial
