// SPDX-License-Identifier: Apache-2.0
// Waiters for any of several locks hear of the end of a hold of each of them inside their own client.
#include "kinds/kinds.hpp"
#include "lock/targets/any_target.hpp"
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

/// As in a cluster.
class AnyOfSeveralSlots : public TargetTest {
 protected:
  std::shared_ptr<AnyTarget> any_of(const std::vector<std::string>& first, const std::vector<std::string>& second) {
    std::vector<std::string> names = first;
    names.insert(names.end(), second.begin(), second.end());
    const auto made = std::make_shared<AnyTarget>(
        names, std::vector<Member>{{client_.runtime, targets_->target(first, kinds::kAnyLock)},
                                   {client_.runtime, targets_->target(second, kinds::kAnyLock)}});
    return std::static_pointer_cast<AnyTarget>(only_one_of(*targets_, made));
  }
};

TEST_F(AnyOfSeveralSlots, IsWokenByTheEndOfAHoldOfOneOfItsNames) {
  const std::shared_ptr<AnyTarget> any = any_of({"spare"}, {"others", "orders"});
  const std::shared_ptr<AnyTarget> other = any_of({"spare"}, {"others"});
  any->enter(first_);
  other->enter(second_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::turn));
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
  const std::shared_ptr<Tenancy> held = hold();
  target_->set_tenancy(*held, 0);
  target_->forget(*held);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_THAT(second_.signals(), IsEmpty()) << "its names are others";
  any->leave(first_);
  other->leave(second_);
}

TEST_F(AnyOfSeveralSlots, IsOneForAllWhoNameTheSameAndKnowsWhatIsGranted) {
  const std::shared_ptr<AnyTarget> any = any_of({"spare", "more"}, {"others", "orders"});
  EXPECT_EQ(any_of({"spare", "more"}, {"others", "orders"}), any);
  EXPECT_NE(any_of({"spare", "more"}, {"orders", "others"}), any);
  EXPECT_EQ(any->name(), "spare, more, others, orders");
  wire::Grant grant;
  grant.which = 3;
  EXPECT_EQ(any->granted(grant), target_) << "the plain lock of that name";
  grant.which = 1;
  EXPECT_EQ(any->granted(grant)->name(), "more");
  EXPECT_THAT(targets_->all(Targets::Which::own), testing::Contains(any)) << "it ends with its client";
}

TEST_F(AnyOfSeveralSlots, IsSubscribedWhenAllOfThemAreAndHearsEach) {
  const std::shared_ptr<AnyTarget> any = any_of({"spare"}, {"orders"});
  const std::string other_channel = targets_->target({"spare"}, kinds::kLock)->names().channel;
  any->enter(first_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::turn));
  const Target::Use use = any->listen(waiter_, first_);
  EXPECT_FALSE(any->subscribed(waiter_));
  subscriptions_->on_subscribed(channel_);
  EXPECT_FALSE(any->subscribed(waiter_));
  subscriptions_->on_subscribed(other_channel);
  EXPECT_TRUE(any->subscribed(waiter_));
  for (const std::string& channel : {channel_, other_channel}) {
    subscriptions_->on_message(channel);
    EXPECT_THAT(first_.signals(), ElementsAre(Signal::message)) << "so that not all who wait ask at once";
  }
  any->leave(first_);
}

}  // namespace
}  // namespace holdfast::engine::target_any_test
