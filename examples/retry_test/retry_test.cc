// How a user tests code that goes through redial: a scripted server, and
// matchers.
#include <grpcpp/grpcpp.h>

#include "examples/retry_test/catalog_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/config/service_config.h"
#include "redial/grpc/channel.h"
#include "redial/testing/matchers.h"
#include "redial/testing/scripted_grpc_server.h"

namespace {

using ::redial::IsOkAndHolds;
using ::redial::ScriptedGrpcAnswer;
using ::redial::ScriptedGrpcServer;
using ::redial::StatusIs;
using ::testing::SizeIs;

CatalogClient ClientOf(const ScriptedGrpcServer& server) {
  auto policy = redial::ServiceConfig::FromJson(kCatalogServiceConfig);
  return CatalogClient(redial::CreateChannel(
      server.target(), grpc::InsecureChannelCredentials(), *policy));
}

TEST(CatalogClientTest, SurvivesAServerThatIsRestarting) {
  ScriptedGrpcServer server(
      {ScriptedGrpcAnswer::Error(grpc::StatusCode::UNAVAILABLE, "restarting"),
       ScriptedGrpcAnswer::Ok()});
  EXPECT_THAT(ClientOf(server).Describe("teapot"), IsOkAndHolds("teapot"));
  EXPECT_THAT(server.Requests(), SizeIs(2));
}

TEST(CatalogClientTest, DoesNotInsistOnAnItemThatIsNotThere) {
  ScriptedGrpcServer server(
      {ScriptedGrpcAnswer::Error(grpc::StatusCode::NOT_FOUND, "no teapot")});
  EXPECT_THAT(ClientOf(server).Describe("teapot"),
              StatusIs(grpc::StatusCode::NOT_FOUND, "no teapot"));
  EXPECT_THAT(server.Requests(), SizeIs(1));
}

}  // namespace
