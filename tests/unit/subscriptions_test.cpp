// SPDX-License-Identifier: Apache-2.0
// Which channels are subscribed on a connection, who hears their messages, and when a subscription is given back.
#include "redis/connection/subscriptions.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::redis::subscriptions_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr base::TimePoint at(base::Duration since_start) { return base::TimePoint(1000h) + since_start; }

const std::string kOrders = "channel of orders";
const std::string kStock = "channel of stock";
const auto kDeaf = [](Busy) {};

class SubscriptionsTest : public testing::Test {
 protected:
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  Subscriptions subscriptions_{listeners_};
};

TEST_F(SubscriptionsTest, AreNoneWhileNothingIsKnownOfAny) {
  EXPECT_TRUE(listeners_->none());
  const std::uint64_t use = listeners_->begin_use(kOrders, kDeaf);
  EXPECT_FALSE(listeners_->none());
  subscriptions_.on_subscribed(kOrders);
  listeners_->end_use(kOrders, use, at(0s));
  EXPECT_FALSE(listeners_->none());
  subscriptions_.take_idle(at(1s));
  EXPECT_TRUE(listeners_->none());
}

// --- messages ---

TEST_F(SubscriptionsTest, BringTheMessagesOfAllConnectionsToTheListeners) {
  Subscriptions other(listeners_);
  int heard = 0;
  listeners_->begin_use(kOrders, [&](Busy) { ++heard; });
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.on_message(kOrders);
  other.on_message(kOrders);
  EXPECT_EQ(heard, 2);
  EXPECT_FALSE(other.subscribed(kOrders));
}

TEST_F(SubscriptionsTest, TellOfOurOwnMessagesAtOnceAndNotAgainWhenTheyCome) {
  int heard = 0;
  listeners_->begin_use(kOrders, [&](Busy) { ++heard; });
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.expect_own(kOrders);
  EXPECT_EQ(heard, 1);
  subscriptions_.on_message(kOrders);
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(listeners_->messages(kOrders), 0U);
  subscriptions_.on_message(kOrders);
  EXPECT_EQ(heard, 2);
}

TEST_F(SubscriptionsTest, ExpectNothingOfOurOwnOnAnotherConnection) {
  Subscriptions other(listeners_);
  other.on_subscribed(kOrders);
  int heard = 0;
  listeners_->begin_use(kOrders, [&](Busy) { ++heard; });
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.expect_own(kOrders);
  other.on_message(kOrders);
  EXPECT_EQ(heard, 2);
  subscriptions_.on_disconnected();
  subscriptions_.expect_own(kOrders);  // not subscribed: nothing will come
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.on_message(kOrders);
  EXPECT_EQ(heard, 3);
}

// --- subscriptions ---

TEST_F(SubscriptionsTest, AreSubscribedOnceTheServerSaysSo) {
  listeners_->begin_use(kOrders, kDeaf);
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
  EXPECT_FALSE(subscriptions_.any_subscribed());
  subscriptions_.on_subscribed(kOrders);
  EXPECT_TRUE(subscriptions_.subscribed(kOrders));
  EXPECT_FALSE(subscriptions_.subscribed(kStock));
  EXPECT_TRUE(subscriptions_.any_subscribed());
  subscriptions_.on_unsubscribed(kOrders);
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
  EXPECT_FALSE(subscriptions_.any_subscribed());
}

TEST_F(SubscriptionsTest, LoseTheirSubscriptionsButNotTheirListenersWithTheConnection) {
  int heard = 0;
  listeners_->begin_use(kOrders, [&](Busy) { ++heard; });
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.on_subscribed(kStock);
  subscriptions_.on_disconnected();
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
  EXPECT_FALSE(subscriptions_.any_subscribed());
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.on_message(kOrders);
  EXPECT_EQ(heard, 1);
}

TEST_F(SubscriptionsTest, StaySubscribedWhenTheirUseEnds) {
  const std::uint64_t use = listeners_->begin_use(kOrders, kDeaf);
  subscriptions_.on_subscribed(kOrders);
  listeners_->end_use(kOrders, use, at(0s));
  EXPECT_TRUE(subscriptions_.subscribed(kOrders));
}

TEST_F(SubscriptionsTest, BearConfirmationsOfWhatNobodyAskedFor) {
  subscriptions_.on_unsubscribed(kOrders);
  subscriptions_.on_subscribed(kStock);
  EXPECT_TRUE(subscriptions_.subscribed(kStock));
}

// --- both sorts of channels ---

TEST_F(SubscriptionsTest, CountAllInAClusterWithSpublishOnly) {
  EXPECT_TRUE(subscriptions_.counts_all());
  subscriptions_.on_login(true, false);
  EXPECT_FALSE(subscriptions_.counts_all());
  subscriptions_.set_publish(Publish::both);
  EXPECT_FALSE(subscriptions_.counts_all());
  subscriptions_.set_publish(Publish::spublish);
  EXPECT_TRUE(subscriptions_.counts_all());
  EXPECT_FALSE(subscriptions_.counts_all(Publish::publish)) << "of a channel in another slot";
}

TEST_F(SubscriptionsTest, OfWhichOneSortIsTakenAwayKeepTheOther) {
  int heard = 0;
  listeners_->begin_use(kOrders, [&](Busy) { ++heard; });
  subscriptions_.set_publish(Publish::both);
  subscriptions_.on_subscribed(kOrders);
  EXPECT_FALSE(subscriptions_.on_taken_away(kOrders)) << "it is of the other sort";
  subscriptions_.on_subscribed(kOrders, Channels::sharded);
  EXPECT_TRUE(subscriptions_.subscribed(kOrders));
  subscriptions_.expect_own(kOrders);
  EXPECT_EQ(heard, 2) << "one of each sort";
  EXPECT_TRUE(subscriptions_.on_taken_away(kOrders));
  EXPECT_EQ(heard, 3);
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
  EXPECT_TRUE(subscriptions_.subscribed(kOrders, Publish::publish));
  subscriptions_.on_message(kOrders);
  EXPECT_EQ(heard, 4) << "what was expected is forgotten: better one attempt too many";
  EXPECT_THAT(subscriptions_.take_idle(at(0s)).plain, IsEmpty());
  EXPECT_FALSE(listeners_->none());
}

// --- giving back what nobody uses ---

TEST_F(SubscriptionsTest, AreIdleWhenTheirLastUseEndedLongEnoughAgo) {
  const std::uint64_t use = listeners_->begin_use(kOrders, kDeaf);
  subscriptions_.on_subscribed(kOrders);
  listeners_->end_use(kOrders, use, at(10s));
  EXPECT_THAT(subscriptions_.take_idle(at(9s)).plain, IsEmpty());
  EXPECT_TRUE(subscriptions_.subscribed(kOrders));
  EXPECT_THAT(subscriptions_.take_idle(at(10s)).plain, ElementsAre(kOrders));
}

TEST_F(SubscriptionsTest, CountAsUnsubscribedOnceTheyWereTakenAsIdle) {
  subscriptions_.on_subscribed(kOrders);
  EXPECT_THAT(subscriptions_.take_idle(at(0s)).plain, ElementsAre(kOrders));
  // UNSUBSCRIBE is on its way: whoever waits now must subscribe again, behind it.
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
  EXPECT_FALSE(subscriptions_.any_subscribed());
  EXPECT_THAT(subscriptions_.take_idle(at(0s)).plain, IsEmpty());
}

TEST_F(SubscriptionsTest, AreNeverIdleWhileSomebodyUsesThem) {
  const std::uint64_t first = listeners_->begin_use(kOrders, kDeaf);
  listeners_->begin_use(kOrders, kDeaf);
  subscriptions_.on_subscribed(kOrders);
  listeners_->end_use(kOrders, first, at(0s));
  EXPECT_THAT(subscriptions_.take_idle(at(1h)).plain, IsEmpty());
  EXPECT_TRUE(subscriptions_.subscribed(kOrders));
}

TEST_F(SubscriptionsTest, AreNotGivenBackBecauseSeveralAreInUse) {
  for (const std::string& channel : {kOrders, kStock}) {
    listeners_->begin_use(channel, kDeaf);
    subscriptions_.on_subscribed(channel);
  }
  subscriptions_.on_subscribed("idle");
  EXPECT_THAT(subscriptions_.take_idle(at(1h)).plain, ElementsAre("idle"));
  EXPECT_TRUE(subscriptions_.subscribed(kOrders));
  EXPECT_TRUE(subscriptions_.subscribed(kStock));
}

TEST_F(SubscriptionsTest, AreUsedAgainWithoutBeingGivenBack) {
  const std::uint64_t first = listeners_->begin_use(kOrders, kDeaf);
  subscriptions_.on_subscribed(kOrders);
  listeners_->end_use(kOrders, first, at(0s));
  const std::uint64_t second = listeners_->begin_use(kOrders, kDeaf);
  EXPECT_THAT(subscriptions_.take_idle(at(10s)).plain, IsEmpty());
  listeners_->end_use(kOrders, second, at(20s));
  EXPECT_THAT(subscriptions_.take_idle(at(19s)).plain, IsEmpty());
  EXPECT_THAT(subscriptions_.take_idle(at(20s)).plain, ElementsAre(kOrders));
}

TEST_F(SubscriptionsTest, AreAllGivenBackTogether) {
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.on_subscribed(kStock);
  EXPECT_THAT(subscriptions_.take_idle(at(0s)).plain, UnorderedElementsAre(kOrders, kStock));
}

TEST_F(SubscriptionsTest, AreSubscribedAgainWhenTheConfirmationsComeInOrder) {
  // Given back, then wanted again: SUBSCRIBE went behind UNSUBSCRIBE, and so come the confirmations.
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.take_idle(at(0s));
  listeners_->begin_use(kOrders, kDeaf);
  subscriptions_.on_unsubscribed(kOrders);
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
  subscriptions_.on_subscribed(kOrders);
  EXPECT_TRUE(subscriptions_.subscribed(kOrders));
}

TEST_F(SubscriptionsTest, LeaveNothingBehindWithTheConnection) {
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.on_subscribed(kOrders);
  subscriptions_.on_disconnected();
  EXPECT_TRUE(listeners_->none());
  {
    Subscriptions(listeners_).on_subscribed(kStock);
  }
  EXPECT_TRUE(listeners_->none());
}

// --- refusals ---

Subscriptions::Why why(const char* text) {
  return std::make_shared<const Refusal>(Refusal{{Errc::denied, Fate::denied}, text});
}

TEST_F(SubscriptionsTest, RememberARefusalForAWhile) {
  subscriptions_.deny({kOrders}, why("NOPERM"), at(0s));
  ASSERT_TRUE(subscriptions_.denied({kOrders}, at(4999ms)));
  EXPECT_EQ(subscriptions_.denied({kOrders}, at(4999ms))->cause, "NOPERM");
  EXPECT_FALSE(subscriptions_.denied({kOrders}, at(5s)));
  EXPECT_FALSE(subscriptions_.denied({kStock}, at(0s)));
}

TEST_F(SubscriptionsTest, RememberTheLatestRefusal) {
  subscriptions_.deny({kOrders}, why("NOPERM"), at(0s));
  subscriptions_.deny({kOrders}, why("still NOPERM"), at(4s));
  ASSERT_TRUE(subscriptions_.denied({kOrders}, at(7s)));
  EXPECT_EQ(subscriptions_.denied({kOrders}, at(7s))->cause, "still NOPERM");
}

TEST_F(SubscriptionsTest, DoNotBlameOneForARefusalOfSeveral) {
  subscriptions_.deny({kOrders, kStock}, why("NOPERM"), at(0s));
  EXPECT_TRUE(subscriptions_.denied({kOrders, kStock}, at(1s)));
  EXPECT_FALSE(subscriptions_.denied({kOrders}, at(1s)));
  EXPECT_FALSE(subscriptions_.denied({kStock}, at(1s)));
}

TEST_F(SubscriptionsTest, RememberThatNoneCanBeSubscribed) {
  subscriptions_.deny({}, why("unknown command"), at(0s));
  EXPECT_TRUE(subscriptions_.denied({kOrders}, at(1s)));
  EXPECT_TRUE(subscriptions_.denied({kOrders, kStock}, at(1s)));
  EXPECT_FALSE(subscriptions_.denied({kOrders}, at(5s)));
}

TEST_F(SubscriptionsTest, RememberARefusalThoughNobodyUsesTheChannelAnyMore) {
  const std::uint64_t use = listeners_->begin_use(kOrders, kDeaf);
  subscriptions_.deny({kOrders}, why("NOPERM"), at(0s));
  listeners_->end_use(kOrders, use, at(1s));
  subscriptions_.take_idle(at(1s));
  EXPECT_TRUE(listeners_->none());
  EXPECT_TRUE(subscriptions_.denied({kOrders}, at(2s)));
}

TEST_F(SubscriptionsTest, ForgetRefusalsThatDoNotCountAnyMore) {
  const Subscriptions::Why first = why("NOPERM");
  for (int i = 0; i < 1000; ++i) subscriptions_.deny({"channel " + std::to_string(i)}, first, at(0s));
  EXPECT_GT(first.use_count(), 1000);
  subscriptions_.deny({kOrders}, why("NOPERM"), at(6s));
  EXPECT_EQ(first.use_count(), 1);
}

// --- from many threads ---

TEST_F(SubscriptionsTest, CanBeUsedFromManyThreadsAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 2000;
  std::atomic<int> heard{0};
  std::atomic<int> running{kThreads};
  std::vector<std::thread> users;
  for (int i = 0; i < kThreads; ++i) {
    users.emplace_back([&, own = "channel " + std::to_string(i)] {
      for (int n = 0; n < kTimes; ++n) {
        const std::uint64_t mine = listeners_->begin_use(own, [&](Busy) { ++heard; });
        const std::uint64_t shared = listeners_->begin_use(kOrders, [](Busy) {});
        subscriptions_.on_message(own);
        listeners_->end_use(kOrders, shared, at(0s));
        listeners_->end_use(own, mine, at(0s));
      }
      --running;
    });
  }
  while (running > 0) {  // the lane's part
    subscriptions_.on_subscribed(kOrders);
    subscriptions_.on_message(kOrders);
    subscriptions_.take_idle(at(0s));
    subscriptions_.on_disconnected();
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(heard, kThreads * kTimes);
}

}  // namespace
}  // namespace holdfast::redis::subscriptions_test
