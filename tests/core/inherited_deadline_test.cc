#include "redial/core/inherited_deadline.h"

#include <memory>
#include <thread>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace redial {
namespace {

using Scope = InheritedDeadlineScope;

Instant At(int seconds) { return Instant::FromEpoch(absl::Seconds(seconds)); }

InheritedDeadline Inbound(Instant deadline,
                          std::shared_ptr<void> server_call = nullptr) {
  InheritedDeadline inherited;
  inherited.deadline = deadline;
  inherited.server_call = std::move(server_call);
  return inherited;
}

TEST(InheritedDeadlineTest, OutsideOfAScopeThereIsNone) {
  EXPECT_EQ(CurrentInheritedDeadline(), nullptr);
  {
    const Scope scope(Inbound(At(5)), Scope::Outer::kCombine);
    ASSERT_NE(CurrentInheritedDeadline(), nullptr);
    EXPECT_EQ(CurrentInheritedDeadline()->deadline, At(5));
  }
  EXPECT_EQ(CurrentInheritedDeadline(), nullptr);
}

TEST(InheritedDeadlineTest, TheEarlierOfTwoHolds) {
  const Scope outer(Inbound(At(5)), Scope::Outer::kCombine);
  for (const int inner_seconds : {3, 5, 9}) {
    const Scope inner(Inbound(At(inner_seconds)), Scope::Outer::kCombine);
    EXPECT_EQ(CurrentInheritedDeadline()->deadline,
              At(inner_seconds < 5 ? inner_seconds : 5));
  }
  // A scope without a deadline of its own passes on the outer one.
  const Scope none(Inbound(Instant::Infinite()), Scope::Outer::kCombine);
  EXPECT_EQ(CurrentInheritedDeadline()->deadline, At(5));
}

TEST(InheritedDeadlineTest, AnOptOutHidesDeadlineAndServerCall) {
  const auto call = std::make_shared<int>(1);
  const Scope outer(Inbound(At(5), call), Scope::Outer::kCombine);
  {
    const Scope hidden(InheritedDeadline(), Scope::Outer::kHide);
    EXPECT_TRUE(CurrentInheritedDeadline()->deadline.is_infinite());
    EXPECT_EQ(CurrentInheritedDeadline()->server_call, nullptr);
    // What opens inside of it sees nothing beyond it either.
    const Scope inner(Inbound(At(9)), Scope::Outer::kCombine);
    EXPECT_EQ(CurrentInheritedDeadline()->deadline, At(9));
    EXPECT_EQ(CurrentInheritedDeadline()->server_call, nullptr);
  }
  EXPECT_EQ(CurrentInheritedDeadline()->deadline, At(5));
  EXPECT_EQ(CurrentInheritedDeadline()->server_call, call);
}

TEST(InheritedDeadlineTest, TheInnermostServerCallIsTheOneThatIsServed) {
  const auto outer_call = std::make_shared<int>(1);
  const auto inner_call = std::make_shared<int>(2);
  const Scope outer(Inbound(At(5), outer_call), Scope::Outer::kCombine);
  {
    const Scope inner(Inbound(At(3)), Scope::Outer::kCombine);
    EXPECT_EQ(CurrentInheritedDeadline()->server_call, outer_call);
  }
  const Scope inner(Inbound(At(3), inner_call), Scope::Outer::kCombine);
  EXPECT_EQ(CurrentInheritedDeadline()->server_call, inner_call);
}

TEST(InheritedDeadlineTest, AScopeKeepsTheServerCallAlive) {
  auto call = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = call;
  {
    const Scope scope(Inbound(At(5), std::move(call)), Scope::Outer::kCombine);
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(InheritedDeadlineTest, AnotherThreadInheritsNothing) {
  const Scope scope(Inbound(At(5)), Scope::Outer::kCombine);
  const InheritedDeadline* seen = CurrentInheritedDeadline();
  std::thread([&] {
    EXPECT_EQ(CurrentInheritedDeadline(), nullptr);
    const Scope other(Inbound(At(1)), Scope::Outer::kCombine);
    EXPECT_EQ(CurrentInheritedDeadline()->deadline, At(1));
  }).join();
  EXPECT_EQ(CurrentInheritedDeadline(), seen);
}

}  // namespace
}  // namespace redial
