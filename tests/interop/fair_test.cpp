// SPDX-License-Identifier: Apache-2.0
// FairLock and Redisson's RFairLock: one lock with one queue.
#include "counting.hpp"

namespace holdfast::test::fair_test {
namespace {

using ::testing::ElementsAreArray;

const std::string kQueue = "redisson_lock_queue:{orders}";

class FairLocks : public Counting {
 protected:
  /// A turn is what it is without a setting: 1 s, and 5 minutes for Redisson's waiters.
  FairLocks() {
    set("kind", "fair");
    set("lease_ms", 20s);
  }

  std::vector<std::string> queue() {
    std::vector<std::string> owners;
    for (const Reply& owner : raw.command("LRANGE", kQueue, 0, -1).elements) owners.push_back(owner.text);
    return owners;
  }
  /// So many are queued, each with a deadline, and all listen for their turns.
  bool waiting(std::size_t count) {
    return eventually([&] {
             return queue().size() == count &&
                    raw.command("PUBSUB", "CHANNELS", "redisson_lock__channel:{orders}:*").elements.size() == count;
           }) &&
           raw.command("ZCARD", "redisson_lock_timeout:{orders}").integer == static_cast<long long>(count);
  }
  bool gone() {
    return eventually([&] { return !raw.exists("orders") && !raw.exists(kQueue); });
  }
};
HOLDFAST_INTEROP(FairLocks, both_ways(kSomeRedissons));

TEST_P(FairLocks, ExcludeEachOther) {
  holder().lock("orders", 20s);
  EXPECT_FALSE(other().try_lock("orders"));
  EXPECT_EQ(other().unlock("orders"), "not_owner");
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(other().try_lock("orders"));
  EXPECT_FALSE(holder().try_lock("orders"));
  EXPECT_EQ(other().unlock("orders"), "released");
  EXPECT_TRUE(gone());
}

TEST_P(FairLocks, AWaiterEntersSoonAfterARelease) {
  holder().lock("orders");
  const Pending waits = other().start_lock("orders");
  ASSERT_TRUE(waiting(1));
  const auto released = steady_clock::now();
  EXPECT_EQ(holder().unlock("orders"), "released");
  const Answer entered = waits.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released, kPrompt);
  EXPECT_EQ(other().unlock("orders"), "released");
  EXPECT_TRUE(gone());
}

TEST_P(FairLocks, BothSidesStandInOneQueueAndEnterInTheOrderOfTheirArrival) {
  holder().lock("orders");
  std::vector<std::string> clients;
  std::vector<Pending> entering, leaving;
  for (int i = 0; i < 8; ++i) {
    Party party(i % 2 == 0 ? other().taker() : holder().taker(), 2 + i / 2);
    entering.push_back(party.start_lock("orders"));
    leaving.push_back(party.start_unlock("orders"));
    clients.push_back(client_id(party.taker()));
    ASSERT_TRUE(waiting(static_cast<std::size_t>(i) + 1));
  }
  std::vector<std::string> queued;
  for (const std::string& owner : queue()) queued.push_back(owner.substr(0, owner.find(':')));
  EXPECT_THAT(queued, ElementsAreArray(clients)) << "who arrives is queued behind those of both sides";
  EXPECT_EQ(holder().unlock("orders"), "released");
  Answer::Time before{};
  for (std::size_t i = 0; i < entering.size(); ++i) {
    const Answer entered = entering[i].get();
    ASSERT_TRUE(entered.ok) << entered.text;
    EXPECT_GT(entered.ended, before) << "the " << i + 1 << ". of them";
    before = entered.ended;
    EXPECT_EQ(leaving[i].get().word(), "released");
  }
  EXPECT_TRUE(gone());
}

TEST_P(FairLocks, WhoDoesNotWaitPassesNobody) {
  holder().lock("orders");
  const Pending waits = other().start_lock("orders");
  ASSERT_TRUE(waiting(1));
  EXPECT_FALSE(Party(holder().taker(), 2).try_lock("orders"));
  EXPECT_EQ(queue().size(), 1U) << "nor is it queued";
  EXPECT_EQ(holder().unlock("orders"), "released");
  ASSERT_TRUE(waits.get().ok);
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(FairLocks, AWaiterWhoseLimitIsOverIsNotWaitedFor) {
  holder().lock("orders");
  const Pending gives_up = other().start_try("orders", 1s);
  ASSERT_TRUE(waiting(1));
  const Pending waits = Party(holder().taker(), 2).start_lock("orders");
  ASSERT_TRUE(waiting(2));
  EXPECT_EQ(gives_up.get().word(), "no");
  // Holdfast still listens on the channel of the one that has left.
  ASSERT_TRUE(eventually([&] { return queue().size() == 1; }));
  const auto released = steady_clock::now();
  EXPECT_EQ(holder().unlock("orders"), "released");
  const Answer entered = waits.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released, kPrompt);
}

/// One of the first side waits, and behind it one of the other side; then the first is killed, and a third gives the
/// lock back. Redisson's waiter has a limit, as its deadline is that long: 5 minutes otherwise.
TEST_P(FairLocks, AKilledWaiterCostsTheOthersItsTurnAndNoMore) {
  constexpr milliseconds kRest = 3s, kRedissonsTurn = 8s, kTurn = 1s;
  start_pair();
  Party third(start(Side::holdfast), 1);
  third.lock("orders", 20s);
  raw.command("PEXPIRE", "orders", kRest.count());  // a deadline is behind the end of the lease
  if (first_side() == Side::peer) {
    holder().start_try("orders", kRedissonsTurn);
  } else {
    holder().start_lock("orders");
  }
  ASSERT_TRUE(waiting(1));
  raw.command("PEXPIRE", "orders", 20'000);
  const Pending waits = other().start_lock("orders");
  ASSERT_TRUE(waiting(2));
  kill(holder().taker());
  ASSERT_TRUE(eventually(
      [&] { return raw.command("PUBSUB", "CHANNELS", "redisson_lock__channel:{orders}:*").elements.size() == 1; }));
  const auto released = steady_clock::now();
  EXPECT_EQ(third.unlock("orders"), "released");
  const Answer entered = waits.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  const milliseconds turn = first_side() == Side::peer ? kRest + kRedissonsTurn : kTurn;
  EXPECT_LT(entered.ended - released, turn + kPrompt);
  figure("the next one entered, ms after the release",
         std::to_string(std::chrono::duration_cast<milliseconds>(entered.ended - released).count()));
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(FairLocks, LoseNoUpdate) { expect_exclusion_and_progress(two_processes_each(2, "orders")); }

}  // namespace
}  // namespace holdfast::test::fair_test
