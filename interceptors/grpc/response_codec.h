// ResponseCodec: how a retried answer gets into the caller's response object.
//
// gRPC hands interceptors a void* and says nothing of its type: generated stubs
// pass a protobuf message, generic stubs a grpc::ByteBuffer, other libraries
// their own. One codec per channel; protobuf by default. A response object that
// the codec does not recognize is never touched: the call goes through once,
// unretried, and its report says UNKNOWN_MESSAGE_TYPE.
#ifndef REDIAL_GRPC_RESPONSE_CODEC_H_
#define REDIAL_GRPC_RESPONSE_CODEC_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <memory>

namespace redial {

// Thread-safe; shared by all calls of a channel.
class ResponseCodec {
 public:
  virtual ~ResponseCodec() = default;

  // Whether `response`, as the stub passed it, can be filled.
  virtual bool Recognizes(const void* response) const = 0;

  // Fills `response` from the bytes of an answer. An error is taken as an
  // answer that does not parse.
  virtual grpc::Status Deserialize(grpc::ByteBuffer* bytes,
                                   void* response) const = 0;

  // True: `response` is a google::protobuf::MessageLite, so that interceptors
  // behind redial see it as such on every attempt.
  virtual bool is_protobuf() const { return false; }
};

// Generated protobuf stubs.
std::shared_ptr<const ResponseCodec> ProtobufResponseCodec();
// grpc::GenericStub and others that receive a grpc::ByteBuffer.
std::shared_ptr<const ResponseCodec> ByteBufferResponseCodec();

}  // namespace redial

#endif  // REDIAL_GRPC_RESPONSE_CODEC_H_
