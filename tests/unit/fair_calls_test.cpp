// SPDX-License-Identifier: Apache-2.0
// The fair lock's calls: arguments in the order that the scripts read them, and what replies mean.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/fair_lock.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::fair::fair_calls_test {
namespace {

using base::Command;
using base::Reply;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

const Owner kOwner{"376fe4aa-10ea-8e60-b8ed-a49082e92014:57"};
const LockNames kNames = names("orders");
const std::string kQueue = "redisson_lock_queue:{orders}", kDeadlines = "redisson_lock_timeout:{orders}";
const std::string kChannel = "redisson_lock__channel:{orders}";

Reply integer(std::int64_t value) { return {Reply::Kind::integer, value, {}, {}}; }
Reply text(std::string value) { return {Reply::Kind::text, 0, std::move(value), {}}; }
Reply array(std::vector<Reply> elements) { return {Reply::Kind::array, 0, {}, std::move(elements)}; }

TEST(FairNames, AreRedissons) {
  EXPECT_EQ(kNames.key, "orders");
  EXPECT_EQ(kNames.channel, kChannel);
  EXPECT_EQ(queue("orders"), kQueue);
  EXPECT_EQ(deadlines("orders"), kDeadlines);
  EXPECT_EQ(queue("{t}x"), "redisson_lock_queue:{t}x");
  EXPECT_EQ(deadlines("{t}x"), "redisson_lock_timeout:{t}x");
  EXPECT_EQ(wake_channel(kNames, kOwner), kChannel + ":" + kOwner.text);
}

TEST(FairAcquire, OfOneWhoWaitsHasItsTurn) {
  AcquireCall call{{&kNames, 1}, kOwner, 30s, true};
  call.turn = 1s;
  EXPECT_EQ(acquire(call).script, &scripts::fair_acquire);
  EXPECT_THAT(acquire(call).args,
              ElementsAre("3", "orders", kQueue, kDeadlines, "30000", kOwner.text, "1000", "300000", kChannel));
  call.publish = Publish::automatic;
  EXPECT_EQ(acquire(call).args.back(), "both");
}

TEST(FairAcquire, OfOneWhoDoesNotWaitHasNone) { EXPECT_EQ(acquire({{&kNames, 1}, kOwner, 30s}).args.at(6), "0"); }

TEST(FairRelease, NamesTheQueue) {
  const Command command = release({.names = {&kNames, 1}, .owner = kOwner, .publish = Publish::spublish, .turn = 1s});
  EXPECT_EQ(command.script, &scripts::fair_release);
  EXPECT_THAT(command.args,
              ElementsAre("3", "orders", kQueue, kDeadlines, kOwner.text, kChannel, "1000", "300000", "spublish"));
}

TEST(FairLeave, NamesTheTurnThatWasAskedWith) {
  const Command command = leave({{&kNames, 1}, kOwner, 5s});
  EXPECT_EQ(command.script, &scripts::fair_leave);
  EXPECT_THAT(command.args, ElementsAre("3", "orders", kQueue, kDeadlines, kOwner.text, "5000", kChannel, "300000"));
}

TEST(FairForce, NamesAnOwnerOrNone) {
  EXPECT_EQ(force_release(kNames).script, &scripts::fair_force_release);
  EXPECT_THAT(force_release(kNames).args, ElementsAre("3", "orders", kQueue, kDeadlines, kChannel, "publish"));
  EXPECT_THAT(force_release(kNames, kOwner, Publish::both).args,
              ElementsAre("3", "orders", kQueue, kDeadlines, kChannel, "both", kOwner.text));
}

TEST(FairLine, IsAskedForUpToSoMany) {
  EXPECT_EQ(line("orders", 20).script, &scripts::fair_look);
  EXPECT_THAT(line("orders", 20).args, ElementsAre("3", "orders", kQueue, kDeadlines, "20"));
}

TEST(FairLine, HasItsHolderAndWhoWaitsInOrder) {
  const Line line = decode_line(array({text(kOwner.text), text("2"), integer(30'000), integer(7), text("first"),
                                       integer(1500), text("second"), Reply{}}));
  EXPECT_EQ(line.holder.owner, kOwner.text);
  EXPECT_EQ(line.holder.count, 2);
  EXPECT_EQ(line.waiting, 7U);
  ASSERT_EQ(line.first.size(), 2U);
  EXPECT_EQ(line.first[0].owner, "first");
  EXPECT_EQ(line.first[0].left, 1500ms);
  EXPECT_EQ(line.first[1].owner, "second");
  EXPECT_EQ(line.first[1].left, std::nullopt);
}

TEST(FairLine, MayWaitForAFreeLock) {
  const Line line = decode_line(array({Reply{}, Reply{}, integer(-2), integer(1), text("first"), integer(-20)}));
  EXPECT_EQ(line.holder.owner, "");
  EXPECT_EQ(line.waiting, 1U);
  ASSERT_EQ(line.first.size(), 1U);
  EXPECT_EQ(line.first[0].left, -20ms);
}

TEST(FairLine, IsEmptyWhereTheReplyMakesNoSense) {
  for (const Reply& odd :
       {Reply{}, integer(1), Reply{Reply::Kind::error, 0, "WRONGTYPE it is a list", {}}, array({}),
        array({text(kOwner.text), text("1"), integer(9)}), array({text("x"), text("1"), integer(9), integer(0)}),
        array({text(kOwner.text), text("1"), integer(9), integer(-1)}),
        array({text(kOwner.text), text("1"), integer(9), integer(1), text("first")})}) {
    const Line line = decode_line(odd);
    EXPECT_EQ(line.holder.owner, "");
    EXPECT_EQ(line.waiting, 0U);
    EXPECT_THAT(line.first, IsEmpty());
  }
}

}  // namespace
}  // namespace holdfast::wire::fair::fair_calls_test
