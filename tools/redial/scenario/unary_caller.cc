#include "tools/redial/scenario/unary_caller.h"

#include <grpcpp/impl/client_unary_call.h>

#include <future>
#include <utility>

// The generated code brings along what it is made of: gRPC's own names for its
// parts move between versions, these do not.
#include "proto/redial/v1/echo.grpc.pb.h"

namespace redial {
namespace {

using ::redial::v1::EchoRequest;
using ::redial::v1::EchoResponse;

grpc::Status CallOnQueue(const std::shared_ptr<grpc::Channel>& channel,
                         const grpc::internal::RpcMethod& method,
                         grpc::ClientContext* context,
                         const EchoRequest& request, EchoResponse* response) {
  grpc::CompletionQueue queue;
  grpc::Status status;
  {
    std::unique_ptr<grpc::ClientAsyncResponseReader<EchoResponse>> reader(
        grpc::internal::ClientAsyncResponseReaderHelper::Create<EchoResponse>(
            channel.get(), &queue, method, context, request));
    reader->StartCall();
    reader->Finish(response, &status, &queue);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
  }
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
  }
  return status;
}

class PromiseReactor final : public grpc::ClientUnaryReactor {
 public:
  void OnDone(const grpc::Status& status) override { done_.set_value(status); }
  grpc::Status Wait() { return done_.get_future().get(); }

 private:
  std::promise<grpc::Status> done_;
};

}  // namespace

grpc::Status CallUnary(GrpcApi api,
                       const std::shared_ptr<grpc::Channel>& channel,
                       const std::string& name, grpc::ClientContext* context,
                       const EchoRequest& request, EchoResponse* response) {
  const grpc::internal::RpcMethod method(name.c_str(),
                                         grpc::internal::RpcMethod::NORMAL_RPC);
  switch (api) {
    case GrpcApi::kSync:
      break;
    case GrpcApi::kCompletionQueue:
      return CallOnQueue(channel, method, context, request, response);
    case GrpcApi::kCallback: {
      std::promise<grpc::Status> done;
      grpc::internal::CallbackUnaryCall<EchoRequest, EchoResponse,
                                        google::protobuf::MessageLite,
                                        google::protobuf::MessageLite>(
          channel.get(), method, context, &request, response,
          [&done](grpc::Status status) { done.set_value(std::move(status)); });
      return done.get_future().get();
    }
    case GrpcApi::kReactor: {
      PromiseReactor reactor;
      grpc::internal::ClientCallbackUnaryFactory::Create<
          google::protobuf::MessageLite, google::protobuf::MessageLite>(
          channel.get(), method, context, &request, response, &reactor);
      reactor.StartCall();
      return reactor.Wait();
    }
  }
  return grpc::internal::BlockingUnaryCall<EchoRequest, EchoResponse,
                                           google::protobuf::MessageLite,
                                           google::protobuf::MessageLite>(
      channel.get(), method, context, request, response);
}

}  // namespace redial
