// Waiters for any of several locks hear of the end of a hold of each of them inside their own client.
#include "kinds/any_lock.hpp"
#include "target_fixture.hpp"

namespace holdfast::engine::target_any_test {
namespace {

using AnyTargetTest = TargetTest;

TEST_F(AnyTargetTest, IsWokenByTheEndOfAHoldOfOneOfItsNames) {
  const std::shared_ptr<KeyTarget> any = targets_->target({"spare", "orders"}, kinds::kAnyLock);
  const std::shared_ptr<KeyTarget> other = targets_->target({"spare", "others"}, kinds::kAnyLock);
  any->enter(first_);
  other->enter(second_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::turn));
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
  const std::shared_ptr<Tenancy> held = hold();
  target_->set_tenancy(*held, 0);
  target_->forget(*held);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_THAT(second_.signals(), IsEmpty()) << "its names are others";
  target_->forget(*held);
  EXPECT_THAT(first_.signals(), IsEmpty()) << "that was known";
  any->leave(first_);
  other->leave(second_);
}

TEST_F(AnyTargetTest, IsOfTheseNamesInThisOrderAndKnowsWhatIsGranted) {
  const std::shared_ptr<KeyTarget> any = targets_->target({"spare", "orders"}, kinds::kAnyLock);
  EXPECT_EQ(targets_->target({"spare", "orders"}, kinds::kAnyLock), any);
  EXPECT_NE(targets_->target({"orders", "spare"}, kinds::kAnyLock), any);
  wire::Grant grant;
  grant.which = 1;
  EXPECT_EQ(any->granted(grant), target_) << "the plain lock of that name";
  EXPECT_EQ(target_->granted({}), target_);
}

}  // namespace
}  // namespace holdfast::engine::target_any_test
