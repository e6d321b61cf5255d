// SPDX-License-Identifier: Apache-2.0
// One lock whose waiters the server keeps in order, inside one client.
#include "kinds/kinds.hpp"
#include "target_fixture.hpp"

namespace holdfast::engine::target_server_order_test {
namespace {

TEST_F(TargetTest, LeavesItToAServerThatKeepsAQueueWhoIsNext) {
  target_ = targets_->target({"orders"}, kinds::kFairLock);
  target_->enter(first_);
  target_->enter(second_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::turn));
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
  const auto held = hold();
  target_->set_tenancy(*held, 0);
  EXPECT_FALSE(target_->view({}).held_here) << "or those who come meanwhile would not be queued";
  target_->forget(*held);
  EXPECT_THAT(first_.signals(), IsEmpty()) << "the server says whose turn it is";
  target_->heard_by(second_);
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::message));
  target_->wake();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake)) << "after a reconnect, all of them ask";
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::wake));
}

}  // namespace
}  // namespace holdfast::engine::target_server_order_test
