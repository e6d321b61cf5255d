// SPDX-License-Identifier: Apache-2.0
// Who of a client listens to which channel, and what is remembered of it.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/connection/subscriptions.hpp"

namespace holdfast::redis::listeners_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr base::TimePoint at(base::Duration since_start) { return base::TimePoint(1000h) + since_start; }

const std::string kOrders = "channel of orders";
const std::string kStock = "channel of stock";
const auto kDeaf = [](Busy) {};

TEST(Listeners, BringAMessageToWhoeverUsesTheChannel) {
  Listeners listeners;
  std::vector<std::string> heard;
  listeners.begin_use(kOrders, [&](Busy) { heard.push_back("first"); });
  listeners.begin_use(kOrders, [&](Busy) { heard.push_back("second"); });
  listeners.begin_use(kStock, [&](Busy) { heard.push_back("stock"); });
  listeners.on_message(kOrders);
  EXPECT_THAT(heard, ElementsAre("first", "second"));
}

TEST(Listeners, BringNothingToWhoHasEndedTheUse) {
  Listeners listeners;
  std::vector<std::string> heard;
  const std::uint64_t first = listeners.begin_use(kOrders, [&](Busy) { heard.push_back("first"); });
  listeners.begin_use(kOrders, [&](Busy) { heard.push_back("second"); });
  listeners.end_use(kOrders, first, at(0s));
  listeners.on_message(kOrders);
  EXPECT_THAT(heard, ElementsAre("second"));
}

TEST(Listeners, IgnoreMessagesOfChannelsThatNobodyUses) {
  Listeners listeners;
  listeners.on_message(kOrders);
  const std::uint64_t use = listeners.begin_use(kOrders, [](Busy) { ADD_FAILURE() << "heard after the end"; });
  listeners.end_use(kOrders, use, at(0s));
  listeners.on_message(kOrders);
}

TEST(Listeners, BringThatItIsBusyAsWhatItIs) {
  Listeners listeners;
  std::vector<std::string> heard;
  listeners.begin_use(kOrders, [&](Busy busy) { heard.push_back(busy ? std::to_string(busy->count()) : "release"); });
  listeners.on_message(kOrders, 30s);
  EXPECT_THAT(heard, ElementsAre("30000"));
  EXPECT_EQ(listeners.messages(kOrders), 0U) << "whoever counts releases does not count it";
}

TEST(BusyFor, IsAMessageWithANegativeNumber) {
  EXPECT_EQ(busy_for("-30000"), 30s);
  for (const char* other : {"0", "1", "7", "", "-", "-x", "--1", "-1x", "released", "-99999999999999999999"}) {
    EXPECT_EQ(busy_for(other), std::nullopt) << other;
  }
}

TEST(Listeners, CanBeUsedByTheirOwnListeners) {
  // A listener is called without any lock held: it may end its own use, or begin another.
  Listeners listeners;
  int heard = 0;
  std::uint64_t use = 0;
  use = listeners.begin_use(kOrders, [&](Busy) {
    ++heard;
    listeners.end_use(kOrders, use, at(0s));
    listeners.begin_use(kStock, kDeaf);
    EXPECT_EQ(listeners.users(kStock), 1U);
  });
  listeners.on_message(kOrders);
  listeners.on_message(kOrders);
  EXPECT_EQ(heard, 1);
}

TEST(Listeners, GiveEveryUseANumberOfItsOwn) {
  Listeners listeners;
  const std::uint64_t first = listeners.begin_use(kOrders, kDeaf);
  const std::uint64_t second = listeners.begin_use(kStock, kDeaf);
  listeners.end_use(kOrders, first, at(0s));
  const std::uint64_t third = listeners.begin_use(kOrders, kDeaf);
  EXPECT_NE(first, second);
  EXPECT_NE(first, third);
  EXPECT_NE(second, third);
}

TEST(Listeners, BearTheEndOfAUseThatTheyDoNotKnow) {
  Listeners listeners;
  listeners.end_use(kOrders, 17, at(0s));
  EXPECT_TRUE(listeners.none());
}

TEST(Listeners, AreCounted) {
  Listeners listeners;
  const std::uint64_t use = listeners.begin_use(kOrders, kDeaf);
  listeners.begin_use(kOrders, kDeaf);
  EXPECT_EQ(listeners.users(kOrders), 2U);
  EXPECT_EQ(listeners.users(kStock), 0U);
  listeners.end_use(kOrders, use, at(0s));
  EXPECT_EQ(listeners.users(kOrders), 1U);
}

TEST(Listeners, CountTheMessagesWhileAChannelIsInUseOrSubscribed) {
  Listeners listeners;
  listeners.on_message(kOrders);
  EXPECT_EQ(listeners.messages(kOrders), 0U);
  const std::uint64_t use = listeners.begin_use(kOrders, kDeaf);
  listeners.on_message(kOrders);
  listeners.begin_subscription(kOrders);
  listeners.end_use(kOrders, use, at(0s));
  listeners.on_message(kOrders);
  EXPECT_EQ(listeners.messages(kOrders), 2U);
}

TEST(Listeners, ForgetAChannelWithItsLastUseAndItsLastSubscription) {
  Listeners listeners;
  const std::uint64_t use = listeners.begin_use(kOrders, kDeaf);
  listeners.begin_subscription(kOrders);
  listeners.begin_subscription(kOrders);
  listeners.end_use(kOrders, use, at(0s));
  listeners.end_subscription(kOrders);
  EXPECT_FALSE(listeners.none());
  listeners.end_subscription(kOrders);
  EXPECT_TRUE(listeners.none());
}

}  // namespace
}  // namespace holdfast::redis::listeners_test
