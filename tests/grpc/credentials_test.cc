// Call credentials run again for each attempt.
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redial/grpc/channel.h"
#include "redial/testing/matchers.h"
#include "tests/grpc/echo_backend.h"
#include "tests/grpc/unary_harness.h"

namespace redial {
namespace {

using ::testing::SizeIs;

// Hands out tokens: "token-1", "token-2", ...
class TokenPlugin final : public grpc::MetadataCredentialsPlugin {
 public:
  TokenPlugin(std::atomic<int>* asked, int failures, absl::Duration delay)
      : asked_(asked), failures_(failures), delay_(delay) {}

  grpc::Status GetMetadata(
      grpc::string_ref, grpc::string_ref, const grpc::AuthContext&,
      std::multimap<std::string, std::string>* metadata) override {
    const int number = ++*asked_;
    if (delay_ > absl::ZeroDuration()) {
      // A slow token endpoint: the plugin may block.
      std::mutex mu;
      std::condition_variable never;
      std::unique_lock<std::mutex> lock(mu);
      never.wait_for(lock, absl::ToChronoMilliseconds(delay_),
                     [] { return false; });
    }
    // Whatever the code, gRPC makes UNAVAILABLE of it.
    if (number <= failures_) {
      return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "no token");
    }
    metadata->emplace("x-token", "token-" + std::to_string(number));
    return grpc::Status();
  }

 private:
  std::atomic<int>* const asked_;
  const int failures_;
  const absl::Duration delay_;
};

struct CredentialsCase {
  const char* name;
  int plugin_failures;
  absl::Duration delay;
  int server_failures;
  // Expected.
  grpc::StatusCode code;
  int attempts;
  int requests;
};

TEST(CredentialsTest, CredentialsRunAgainForEachAttempt) {
  constexpr auto kUnavailable = grpc::StatusCode::UNAVAILABLE;
  const CredentialsCase cases[] = {
      {"well", 0, absl::ZeroDuration(), 2, grpc::OK, 3, 3},
      {"slow", 0, absl::Milliseconds(30), 1, grpc::OK, 2, 2},
      {"failing once", 1, absl::ZeroDuration(), 0, grpc::OK, 2, 1},
      {"failing always", 99, absl::ZeroDuration(), 0, kUnavailable, 3, 0},
  };
  for (const CredentialsCase& c : cases) {
    for (const CallStyle& style : AllCallStyles()) {
      SCOPED_TRACE(std::string(c.name) + " " + CallStyleName(style));
      EchoBackend backend(SucceedsAtAttempt(c.server_failures + 1));
      ChannelOptions options = TestChannelOptions(style.mode);
      const auto channel = CreateChannel(
          backend.target(), grpc::experimental::LocalCredentials(LOCAL_TCP),
          MakePolicyTable({}), options);
      std::atomic<int> asked{0};
      UnarySpec spec;
      spec.prepare = [&](grpc::ClientContext& context) {
        context.set_credentials(
            grpc::experimental::MetadataCredentialsFromPlugin(
                std::make_unique<TokenPlugin>(&asked, c.plugin_failures,
                                              c.delay),
                GRPC_SECURITY_NONE));
      };
      const UnaryResult result = CallUnary(channel, style.api, spec);
      EXPECT_THAT(result.status, StatusIs(c.code)) << result.report.Summary();
      EXPECT_THAT(result.report, Attempts(c.attempts));
      EXPECT_EQ(asked, c.attempts);
      const auto arrivals = backend.Arrivals();
      ASSERT_THAT(arrivals, SizeIs(c.requests));
      for (int i = 0; i < c.requests; ++i) {
        EXPECT_EQ(OneValue(arrivals[i].metadata, "x-token"),
                  "token-" + std::to_string(c.attempts - c.requests + i + 1));
      }
    }
  }
}

}  // namespace
}  // namespace redial
