// ServiceConfigOptions: how a service config is read.
#ifndef REDIAL_CONFIG_SERVICE_CONFIG_OPTIONS_H_
#define REDIAL_CONFIG_SERVICE_CONFIG_OPTIONS_H_

#include <string>

namespace redial {

enum class ServiceConfigDialect {
  // As gRFC A6 says.
  kGrpc,
  // As Google's published *_grpc_service_config.json files are meant: a
  // retryPolicy without maxAttempts retries until the deadline, and one without
  // codes never.
  kGapic,
};

struct ServiceConfigOptions {
  ServiceConfigDialect dialect = ServiceConfigDialect::kGrpc;
  // Stands before the problems in a status: a file name, say.
  std::string source_name;
};

}  // namespace redial

#endif  // REDIAL_CONFIG_SERVICE_CONFIG_OPTIONS_H_
