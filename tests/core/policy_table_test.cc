#include "redial/core/policy_table.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "redial/core/policy.h"

namespace redial {
namespace {

std::shared_ptr<const MethodPolicy> Named(const std::string& origin) {
  auto policy = std::make_shared<MethodPolicy>();
  policy->origin = origin;
  return policy;
}

std::string Found(const PolicyTable& table, const std::string& method) {
  const std::shared_ptr<const MethodPolicy>* policy = table.Find(method);
  return policy == nullptr ? "none" : (*policy)->origin;
}

TEST(PolicyTableTest, TheExactMethodThenItsServiceThenTheDefault) {
  PolicyTable table;
  ASSERT_TRUE(table.Add("pkg.Service", "Method", Named("method")));
  ASSERT_TRUE(table.Add("pkg.Service", "", Named("service")));
  ASSERT_TRUE(table.Add("", "", Named("default")));
  const struct {
    std::string method;
    std::string expected;
  } rows[] = {
      {"/pkg.Service/Method", "method"},
      {"/pkg.Service/Other", "service"},
      {"/pkg.Service/", "service"},
      {"/pkg.Service", "default"},
      {"/pkg.Service/method", "service"},
      {"/pkg.Service2/Method", "default"},
      {"/PKG.Service/Method", "default"},
      {"/g.Service/Method", "default"},
      {"/pkg.Service/Method/", "default"},
      {"pkg.Service/Method", "default"},
      {"Method", "default"},
      {"/", "default"},
      {"", "default"},
      {std::string("/pkg.Service/Method\0", 20), "service"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Found(table, row.method), row.expected) << row.method;
  }
}

TEST(PolicyTableTest, WithoutADefaultOtherMethodsHaveNone) {
  PolicyTable table;
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(Found(table, "/a.B/C"), "none");
  ASSERT_TRUE(table.Add("a.B", "C", Named("method")));
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(Found(table, "/a.B/C"), "method");
  EXPECT_EQ(Found(table, "/a.B/D"), "none");
  EXPECT_EQ(Found(table, ""), "none");
}

TEST(PolicyTableTest, ANameThatIsTakenStays) {
  PolicyTable table;
  ASSERT_TRUE(table.Add("a.B", "C", Named("first method")));
  EXPECT_FALSE(table.Add("a.B", "C", Named("second method")));
  ASSERT_TRUE(table.Add("a.B", "", Named("first service")));
  EXPECT_FALSE(table.Add("a.B", "", Named("second service")));
  ASSERT_TRUE(table.Add("", "", Named("first default")));
  EXPECT_FALSE(table.Add("", "", Named("second default")));
  // A method without a service counts as the default, too.
  EXPECT_FALSE(table.Add("", "C", Named("third default")));
  EXPECT_EQ(Found(table, "/a.B/C"), "first method");
  EXPECT_EQ(Found(table, "/a.B/D"), "first service");
  EXPECT_EQ(Found(table, "/c.D/E"), "first default");
}

// Entries are not merged: a name without a policy hides the more general one.
TEST(PolicyTableTest, ANullPolicyHidesTheMoreGeneral) {
  PolicyTable table;
  ASSERT_TRUE(table.Add("a.B", "C", nullptr));
  ASSERT_TRUE(table.Add("a.B", "", Named("service")));
  ASSERT_TRUE(table.Add("d.E", "", nullptr));
  ASSERT_TRUE(table.Add("", "", Named("default")));
  EXPECT_EQ(Found(table, "/a.B/C"), "none");
  EXPECT_EQ(Found(table, "/a.B/D"), "service");
  EXPECT_EQ(Found(table, "/d.E/F"), "none");
  EXPECT_EQ(Found(table, "/g.H/I"), "default");
  EXPECT_FALSE(table.Add("a.B", "C", Named("too late")));
}

TEST(PolicyTableTest, ANullDefaultIsAnEntry) {
  PolicyTable table;
  ASSERT_TRUE(table.Add("", "", nullptr));
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(Found(table, "/a.B/C"), "none");
}

TEST(PolicyTableTest, KeepsThrottleAndTheConfigForCore) {
  PolicyTable table;
  EXPECT_FALSE(table.throttle().has_value());
  EXPECT_EQ(table.core_config(), "");
  ThrottleParameters throttle;
  throttle.max_milli_tokens = 4000;
  throttle.milli_token_ratio = 1600;
  table.set_throttle(throttle);
  table.set_core_config("{}");
  EXPECT_EQ(table.throttle(), throttle);
  EXPECT_EQ(table.core_config(), "{}");
}

std::shared_ptr<const PolicyTable> TableOf(const std::string& origin) {
  auto table = std::make_shared<PolicyTable>();
  table->Add("", "", Named(origin));
  return table;
}

TEST(LivePolicyTest, ACallKeepsTheTableThatItStartedWith) {
  LivePolicy live(TableOf("old"));
  const uint64_t version = live.version();
  const std::shared_ptr<const PolicyTable> in_flight = live.Load();
  live.Store(TableOf("new"));
  EXPECT_GT(live.version(), version);
  EXPECT_EQ(Found(*in_flight, "/a.B/C"), "old");
  EXPECT_EQ(Found(*live.Load(), "/a.B/C"), "new");
  live.Store(nullptr);
  EXPECT_EQ(live.Load(), nullptr);
}

TEST(LivePolicyTest, ThreadsReadWhileAnotherStores) {
  LivePolicy live(TableOf("0"));
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  std::atomic<int> torn{0};
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      uint64_t version = 0;
      while (!done.load()) {
        const uint64_t now = live.version();
        if (now < version) torn.fetch_add(1);
        version = now;
        if (Found(*live.Load(), "/a.B/C") == "none") torn.fetch_add(1);
      }
    });
  }
  for (int i = 1; i <= 500; ++i) live.Store(TableOf(std::to_string(i)));
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn.load(), 0);
  EXPECT_EQ(Found(*live.Load(), "/a.B/C"), "500");
  EXPECT_EQ(live.version(), 501u);
}

}  // namespace
}  // namespace redial
