// A user's own code, which retry_test.cc tests.
#ifndef REDIAL_EXAMPLES_RETRY_TEST_CATALOG_CLIENT_H_
#define REDIAL_EXAMPLES_RETRY_TEST_CATALOG_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace grpc {
class Channel;
}  // namespace grpc

// The policy that the client ships with.
extern const char kCatalogServiceConfig[];

class CatalogClient {
 public:
  explicit CatalogClient(std::shared_ptr<grpc::Channel> channel);

  absl::StatusOr<std::string> Describe(absl::string_view item);

 private:
  const std::shared_ptr<grpc::Channel> channel_;
};

#endif  // REDIAL_EXAMPLES_RETRY_TEST_CATALOG_CLIENT_H_
