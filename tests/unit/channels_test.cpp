// Which channels are subscribed, who hears their messages, and when a subscription is given back.
#include "redis/connection/channels.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr base::TimePoint at(base::Duration since_start) { return base::TimePoint(1000h) + since_start; }

const std::string kOrders = "channel of orders";
const std::string kStock = "channel of stock";
const auto kDeaf = [] {};

TEST(Channels, AreNoneWhileNothingIsKnownOfAny) {
  Channels channels;
  EXPECT_TRUE(channels.none());
  const std::uint64_t use = channels.begin_use(kOrders, kDeaf);
  EXPECT_FALSE(channels.none());
  channels.on_subscribed(kOrders);
  channels.end_use(kOrders, use, at(0s));
  EXPECT_FALSE(channels.none());
  channels.take_idle(at(1s));
  EXPECT_TRUE(channels.none());
}

// --- messages ---

TEST(Channels, BringAMessageToWhoeverUsesTheChannel) {
  Channels channels;
  std::vector<std::string> heard;
  channels.begin_use(kOrders, [&] { heard.push_back("first"); });
  channels.begin_use(kOrders, [&] { heard.push_back("second"); });
  channels.begin_use(kStock, [&] { heard.push_back("stock"); });
  channels.on_message(kOrders);
  EXPECT_THAT(heard, ElementsAre("first", "second"));
}

TEST(Channels, BringNothingToWhoHasEndedTheUse) {
  Channels channels;
  std::vector<std::string> heard;
  const std::uint64_t first = channels.begin_use(kOrders, [&] { heard.push_back("first"); });
  channels.begin_use(kOrders, [&] { heard.push_back("second"); });
  channels.end_use(kOrders, first, at(0s));
  channels.on_message(kOrders);
  EXPECT_THAT(heard, ElementsAre("second"));
}

TEST(Channels, IgnoreMessagesOfChannelsThatNobodyUses) {
  Channels channels;
  channels.on_message(kOrders);
  const std::uint64_t use = channels.begin_use(kOrders, [] { ADD_FAILURE() << "heard after the end"; });
  channels.end_use(kOrders, use, at(0s));
  channels.on_message(kOrders);
}

TEST(Channels, CanBeUsedByTheirOwnListeners) {
  // A listener is called without any lock held: it may end its own use, or begin another.
  Channels channels;
  int heard = 0;
  std::uint64_t use = 0;
  use = channels.begin_use(kOrders, [&] {
    ++heard;
    channels.end_use(kOrders, use, at(0s));
    channels.begin_use(kStock, kDeaf);
    EXPECT_FALSE(channels.subscribed(kStock));
  });
  channels.on_message(kOrders);
  channels.on_message(kOrders);
  EXPECT_EQ(heard, 1);
}

TEST(Channels, GiveEveryUseANumberOfItsOwn) {
  Channels channels;
  const std::uint64_t first = channels.begin_use(kOrders, kDeaf);
  const std::uint64_t second = channels.begin_use(kStock, kDeaf);
  channels.end_use(kOrders, first, at(0s));
  const std::uint64_t third = channels.begin_use(kOrders, kDeaf);
  EXPECT_NE(first, second);
  EXPECT_NE(first, third);
  EXPECT_NE(second, third);
}

TEST(Channels, BearTheEndOfAUseThatTheyDoNotKnow) {
  Channels channels;
  channels.end_use(kOrders, 17, at(0s));
  EXPECT_FALSE(channels.any_subscribed());
}

// --- subscriptions ---

TEST(Channels, AreSubscribedOnceTheServerSaysSo) {
  Channels channels;
  channels.begin_use(kOrders, kDeaf);
  EXPECT_FALSE(channels.subscribed(kOrders));
  EXPECT_FALSE(channels.any_subscribed());
  channels.on_subscribed(kOrders);
  EXPECT_TRUE(channels.subscribed(kOrders));
  EXPECT_FALSE(channels.subscribed(kStock));
  EXPECT_TRUE(channels.any_subscribed());
  channels.on_unsubscribed(kOrders);
  EXPECT_FALSE(channels.subscribed(kOrders));
  EXPECT_FALSE(channels.any_subscribed());
}

TEST(Channels, LoseTheirSubscriptionsButNotTheirListenersWithTheConnection) {
  Channels channels;
  int heard = 0;
  channels.begin_use(kOrders, [&] { ++heard; });
  channels.on_subscribed(kOrders);
  channels.on_subscribed(kStock);
  channels.on_disconnected();
  EXPECT_FALSE(channels.subscribed(kOrders));
  EXPECT_FALSE(channels.any_subscribed());
  channels.on_subscribed(kOrders);
  channels.on_message(kOrders);
  EXPECT_EQ(heard, 1);
}

TEST(Channels, StaySubscribedWhenTheirUseEnds) {
  Channels channels;
  const std::uint64_t use = channels.begin_use(kOrders, kDeaf);
  channels.on_subscribed(kOrders);
  channels.end_use(kOrders, use, at(0s));
  EXPECT_TRUE(channels.subscribed(kOrders));
}

TEST(Channels, BearConfirmationsOfWhatNobodyAskedFor) {
  Channels channels;
  channels.on_unsubscribed(kOrders);
  channels.on_subscribed(kStock);
  EXPECT_TRUE(channels.subscribed(kStock));
}

// --- giving back what nobody uses ---

TEST(Channels, AreIdleWhenTheirLastUseEndedLongEnoughAgo) {
  Channels channels;
  const std::uint64_t use = channels.begin_use(kOrders, kDeaf);
  channels.on_subscribed(kOrders);
  channels.end_use(kOrders, use, at(10s));
  EXPECT_THAT(channels.take_idle(at(9s)), IsEmpty());
  EXPECT_TRUE(channels.subscribed(kOrders));
  EXPECT_THAT(channels.take_idle(at(10s)), ElementsAre(kOrders));
}

TEST(Channels, CountAsUnsubscribedOnceTheyWereTakenAsIdle) {
  Channels channels;
  channels.on_subscribed(kOrders);
  EXPECT_THAT(channels.take_idle(at(0s)), ElementsAre(kOrders));
  // UNSUBSCRIBE is on its way: whoever waits now must subscribe again, behind it.
  EXPECT_FALSE(channels.subscribed(kOrders));
  EXPECT_FALSE(channels.any_subscribed());
  EXPECT_THAT(channels.take_idle(at(0s)), IsEmpty());
}

TEST(Channels, AreNeverIdleWhileSomebodyUsesThem) {
  Channels channels;
  const std::uint64_t first = channels.begin_use(kOrders, kDeaf);
  channels.begin_use(kOrders, kDeaf);
  channels.on_subscribed(kOrders);
  channels.end_use(kOrders, first, at(0s));
  EXPECT_THAT(channels.take_idle(at(1h)), IsEmpty());
  EXPECT_TRUE(channels.subscribed(kOrders));
}

TEST(Channels, AreUsedAgainWithoutBeingGivenBack) {
  Channels channels;
  const std::uint64_t first = channels.begin_use(kOrders, kDeaf);
  channels.on_subscribed(kOrders);
  channels.end_use(kOrders, first, at(0s));
  const std::uint64_t second = channels.begin_use(kOrders, kDeaf);
  EXPECT_THAT(channels.take_idle(at(10s)), IsEmpty());
  channels.end_use(kOrders, second, at(20s));
  EXPECT_THAT(channels.take_idle(at(19s)), IsEmpty());
  EXPECT_THAT(channels.take_idle(at(20s)), ElementsAre(kOrders));
}

TEST(Channels, AreAllGivenBackTogether) {
  Channels channels;
  channels.on_subscribed(kOrders);
  channels.on_subscribed(kStock);
  EXPECT_THAT(channels.take_idle(at(0s)), UnorderedElementsAre(kOrders, kStock));
}

TEST(Channels, AreSubscribedAgainWhenTheConfirmationsComeInOrder) {
  // Given back, then wanted again: SUBSCRIBE went behind UNSUBSCRIBE, and so come the confirmations.
  Channels channels;
  channels.on_subscribed(kOrders);
  channels.take_idle(at(0s));
  channels.begin_use(kOrders, kDeaf);
  channels.on_unsubscribed(kOrders);
  EXPECT_FALSE(channels.subscribed(kOrders));
  channels.on_subscribed(kOrders);
  EXPECT_TRUE(channels.subscribed(kOrders));
}

// --- refusals ---

Channels::Why why(const char* text) {
  return std::make_shared<const Refusal>(Refusal{{Errc::denied, Fate::denied}, text});
}

TEST(Channels, RememberARefusalForAWhile) {
  Channels channels;
  channels.deny({kOrders}, why("NOPERM"), at(0s));
  ASSERT_TRUE(channels.denied({kOrders}, at(4999ms)));
  EXPECT_EQ(channels.denied({kOrders}, at(4999ms))->cause, "NOPERM");
  EXPECT_FALSE(channels.denied({kOrders}, at(5s)));
  EXPECT_FALSE(channels.denied({kStock}, at(0s)));
}

TEST(Channels, RememberTheLatestRefusal) {
  Channels channels;
  channels.deny({kOrders}, why("NOPERM"), at(0s));
  channels.deny({kOrders}, why("still NOPERM"), at(4s));
  ASSERT_TRUE(channels.denied({kOrders}, at(7s)));
  EXPECT_EQ(channels.denied({kOrders}, at(7s))->cause, "still NOPERM");
}

TEST(Channels, DoNotBlameOneForARefusalOfSeveral) {
  Channels channels;
  channels.deny({kOrders, kStock}, why("NOPERM"), at(0s));
  EXPECT_TRUE(channels.denied({kOrders, kStock}, at(1s)));
  EXPECT_FALSE(channels.denied({kOrders}, at(1s)));
  EXPECT_FALSE(channels.denied({kStock}, at(1s)));
}

TEST(Channels, RememberThatNoneCanBeSubscribed) {
  Channels channels;
  channels.deny({}, why("unknown command"), at(0s));
  EXPECT_TRUE(channels.denied({kOrders}, at(1s)));
  EXPECT_TRUE(channels.denied({kOrders, kStock}, at(1s)));
  EXPECT_FALSE(channels.denied({kOrders}, at(5s)));
}

TEST(Channels, RememberARefusalThoughNobodyUsesTheChannelAnyMore) {
  Channels channels;
  const std::uint64_t use = channels.begin_use(kOrders, kDeaf);
  channels.deny({kOrders}, why("NOPERM"), at(0s));
  channels.end_use(kOrders, use, at(1s));
  channels.take_idle(at(1s));
  EXPECT_TRUE(channels.none());
  EXPECT_TRUE(channels.denied({kOrders}, at(2s)));
}

TEST(Channels, ForgetRefusalsThatDoNotCountAnyMore) {
  Channels channels;
  const Channels::Why first = why("NOPERM");
  for (int i = 0; i < 1000; ++i) channels.deny({"channel " + std::to_string(i)}, first, at(0s));
  EXPECT_GT(first.use_count(), 1000);
  channels.deny({kOrders}, why("NOPERM"), at(6s));
  EXPECT_EQ(first.use_count(), 1);
}

// --- from many threads ---

TEST(Channels, CanBeUsedFromManyThreadsAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 2000;
  Channels channels;
  std::atomic<int> heard{0};
  std::atomic<int> running{kThreads};
  std::vector<std::thread> users;
  for (int i = 0; i < kThreads; ++i) {
    users.emplace_back([&, own = "channel " + std::to_string(i)] {
      for (int n = 0; n < kTimes; ++n) {
        const std::uint64_t mine = channels.begin_use(own, [&] { ++heard; });
        const std::uint64_t shared = channels.begin_use(kOrders, [] {});
        channels.on_message(own);
        channels.end_use(kOrders, shared, at(0s));
        channels.end_use(own, mine, at(0s));
      }
      --running;
    });
  }
  while (running > 0) {  // the lane's part
    channels.on_subscribed(kOrders);
    channels.on_message(kOrders);
    channels.take_idle(at(0s));
    channels.on_disconnected();
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(heard, kThreads * kTimes);
}

}  // namespace
}  // namespace holdfast::redis
