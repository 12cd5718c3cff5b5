// HookRecorder: a user's interceptor that writes down what it sees. Thread-safe
// log, shared by all interceptors of one factory.
#ifndef REDIAL_TESTS_GRPC_HOOK_RECORDER_H_
#define REDIAL_TESTS_GRPC_HOOK_RECORDER_H_

#include <grpcpp/support/client_interceptor.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace redial {

// What one run of Intercept saw.
struct HookRecord {
  std::vector<grpc::experimental::InterceptionHookPoints> hooks;
  // GetRecvMessage() was not null.
  bool has_message = false;
  // Where there was POST_RECV_STATUS.
  int code = -1;

  bool Saw(grpc::experimental::InterceptionHookPoints hook) const {
    for (const auto seen : hooks) {
      if (seen == hook) return true;
    }
    return false;
  }
};

class HookLog {
 public:
  void Made() {
    const std::lock_guard<std::mutex> lock(mu_);
    ++interceptors_;
  }
  void Add(HookRecord record) {
    const std::lock_guard<std::mutex> lock(mu_);
    records_.push_back(std::move(record));
  }
  int interceptors() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return interceptors_;
  }
  std::vector<HookRecord> records() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return records_;
  }
  int Count(grpc::experimental::InterceptionHookPoints hook) const {
    int count = 0;
    for (const HookRecord& record : records()) count += record.Saw(hook);
    return count;
  }
  void Clear() {
    const std::lock_guard<std::mutex> lock(mu_);
    interceptors_ = 0;
    records_.clear();
  }

 private:
  mutable std::mutex mu_;
  int interceptors_ = 0;
  std::vector<HookRecord> records_;
};

using InterceptFunction =
    std::function<void(grpc::experimental::ClientRpcInfo*,
                       grpc::experimental::InterceptorBatchMethods*)>;

// Records, runs `also`, and proceeds.
class RecordingInterceptor final : public grpc::experimental::Interceptor {
 public:
  RecordingInterceptor(grpc::experimental::ClientRpcInfo* info, HookLog* log,
                       InterceptFunction also)
      : info_(info), log_(log), also_(std::move(also)) {}

  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    using Hook = grpc::experimental::InterceptionHookPoints;
    HookRecord record;
    for (int i = 0; i < static_cast<int>(Hook::NUM_INTERCEPTION_HOOKS); ++i) {
      const Hook hook = static_cast<Hook>(i);
      if (methods->QueryInterceptionHookPoint(hook)) {
        record.hooks.push_back(hook);
      }
    }
    if (!record.Saw(Hook::PRE_SEND_CANCEL)) {
      record.has_message = methods->GetRecvMessage() != nullptr;
      if (record.Saw(Hook::POST_RECV_STATUS)) {
        record.code = methods->GetRecvStatus()->error_code();
      }
      if (also_) also_(info_, methods);
    }
    if (log_ != nullptr) log_->Add(std::move(record));
    methods->Proceed();
  }

 private:
  grpc::experimental::ClientRpcInfo* const info_;
  HookLog* const log_;
  const InterceptFunction also_;
};

class RecordingFactory final
    : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  // `log` must outlive the channel.
  explicit RecordingFactory(HookLog* log, InterceptFunction also = nullptr)
      : log_(log), also_(std::move(also)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* info) override {
    if (log_ != nullptr) log_->Made();
    return new RecordingInterceptor(info, log_, also_);
  }

 private:
  HookLog* const log_;
  const InterceptFunction also_;
};

// A factory made of a function; it may return null.
class FunctionFactory final
    : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  using Function = std::function<grpc::experimental::Interceptor*(
      grpc::experimental::ClientRpcInfo*)>;
  explicit FunctionFactory(Function make) : make_(std::move(make)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* info) override {
    return make_(info);
  }

 private:
  const Function make_;
};

}  // namespace redial

#endif  // REDIAL_TESTS_GRPC_HOOK_RECORDER_H_
