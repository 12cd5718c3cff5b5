#include "examples/retry_test/catalog_client.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/status/status.h"
#include "proto/redial/v1/echo.grpc.pb.h"

const char kCatalogServiceConfig[] = R"({
  "methodConfig": [ {
    "name": [ { "service": "redial.v1.Echo" } ],
    "timeout": "10s",
    "retryPolicy": { "maxAttempts": 3, "initialBackoff": "0.02s",
                     "maxBackoff": "0.1s", "backoffMultiplier": 2,
                     "retryableStatusCodes": [ "UNAVAILABLE" ] }
  } ]
})";

CatalogClient::CatalogClient(std::shared_ptr<grpc::Channel> channel)
    : channel_(std::move(channel)) {}

absl::StatusOr<std::string> CatalogClient::Describe(absl::string_view item) {
  auto stub = redial::v1::Echo::NewStub(channel_);
  grpc::ClientContext context;
  redial::v1::EchoRequest request;
  request.set_text(std::string(item));
  redial::v1::EchoResponse response;
  const grpc::Status status = stub->UnarySafe(&context, request, &response);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                        status.error_message());
  }
  return response.text();
}
