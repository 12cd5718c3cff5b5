// The keys of a service config that are gRPC core's business.
//
// Their types are checked, as gRPC would, so that one reading finds what either
// of the two would refuse; their meaning (which load balancing policies there
// are, say) is core's alone. Problems go to the object's list.
#ifndef REDIAL_CONFIG_CORE_KEYS_H_
#define REDIAL_CONFIG_CORE_KEYS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "redial/config/json_reader.h"

namespace redial {

// waitForReady, maxRequestMessageBytes, maxResponseMessageBytes of a method
// config. Returns waitForReady.
bool CheckMethodCoreKeys(JsonObject* method_config);

// loadBalancingConfig, loadBalancingPolicy, healthCheckConfig of the document.
void CheckDocumentCoreKeys(JsonObject* document);

// The service config that remains for gRPC core: `json`, which is valid,
// without retryThrottling and "redial" at the top, and without retryPolicy,
// hedgingPolicy, timeout and "redial" in method configs. A method config keeps
// its names even if nothing else is left, since they shadow more general ones.
// Empty if nothing at all is left.
std::string CoreConfig(absl::string_view json);

}  // namespace redial

#endif  // REDIAL_CONFIG_CORE_KEYS_H_
