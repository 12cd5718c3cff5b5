// BatchHooks: asking a batch which hooks it runs.
#ifndef REDIAL_GRPC_BATCH_HOOKS_H_
#define REDIAL_GRPC_BATCH_HOOKS_H_

#include <grpcpp/support/interceptor.h>

namespace redial {

using grpc::experimental::InterceptionHookPoints;

inline bool Has(grpc::experimental::InterceptorBatchMethods* batch,
                InterceptionHookPoints hook) {
  return batch->QueryInterceptionHookPoint(hook);
}

inline bool IsPostStage(grpc::experimental::InterceptorBatchMethods* batch) {
  return Has(batch, InterceptionHookPoints::POST_RECV_INITIAL_METADATA) ||
         Has(batch, InterceptionHookPoints::POST_RECV_MESSAGE) ||
         Has(batch, InterceptionHookPoints::POST_RECV_STATUS) ||
         Has(batch, InterceptionHookPoints::POST_SEND_MESSAGE);
}

}  // namespace redial

#endif  // REDIAL_GRPC_BATCH_HOOKS_H_
