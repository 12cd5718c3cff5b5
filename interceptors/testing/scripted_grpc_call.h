// ScriptedGrpcCall: one request at a ScriptedGrpcServer, and its answer.
//
// Part of the server, not for use by itself. A reactor that keeps itself alive
// until gRPC and its timer have let go of it. Thread-safe.
#ifndef REDIAL_TESTING_SCRIPTED_GRPC_CALL_H_
#define REDIAL_TESTING_SCRIPTED_GRPC_CALL_H_

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/types/optional.h"
#include "redial/testing/scripted_grpc_server.h"

namespace redial {

// What a call tells its server. Called with no lock held.
class ScriptedGrpcListener {
 public:
  virtual ~ScriptedGrpcListener() = default;
  virtual void OnMessage(size_t request, std::string bytes) = 0;
  virtual void OnCancelled(size_t request) = 0;
  virtual void DropConnection(int peer_port) = 0;
  virtual void OnCallOver() = 0;
};

class ScriptedGrpcCall final
    : public grpc::ServerGenericBidiReactor,
      public std::enable_shared_from_this<ScriptedGrpcCall> {
 public:
  // `request` is its number at the listener, which must outlive the call.
  static grpc::ServerGenericBidiReactor* Start(
      grpc::GenericCallbackServerContext* context, ScriptedGrpcAnswer answer,
      size_t request, ScriptedGrpcListener* listener);

  void OnReadDone(bool ok) override;
  void OnSendInitialMetadataDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  ScriptedGrpcCall(grpc::GenericCallbackServerContext* context,
                   ScriptedGrpcAnswer answer, size_t request,
                   ScriptedGrpcListener* listener);

  void WaitForDelay();
  void Answer();
  // Starts what comes next, if its turn has come.
  void Step();
  void StepDone(bool ok);

  const ScriptedGrpcAnswer answer_;
  const size_t request_;
  const int peer_port_;
  ScriptedGrpcListener* const listener_;
  std::shared_ptr<ScriptedGrpcCall> self_;

  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;

  std::mutex mu_;
  std::unique_ptr<grpc::Alarm> delay_;
  absl::optional<std::string> first_message_;
  bool headers_left_ = false;
  int messages_left_ = 0;
  // Whether an operation other than a read is under way. While it is, only its
  // end may lead to Finish: gRPC must not be called after that.
  bool acting_ = false;
  bool failed_ = false;  // an operation was refused
  bool cancelled_ = false;
  bool begun_ = false;          // the delay counts
  bool half_closed_ = false;    // the client has sent all
  bool waits_for_end_ = false;  // OK goes out when the client has sent all
  bool dropped_ = false;
  bool finished_ = false;
};

}  // namespace redial

#endif  // REDIAL_TESTING_SCRIPTED_GRPC_CALL_H_
