// SPDX-License-Identifier: Apache-2.0
// SSUBSCRIBE and SUNSUBSCRIBE, in step with replies and with what a server says of itself, when it gives a slot away.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/connection/lane.hpp"
#include "support/running_schedule.hpp"
#include "unit/scripted_peer.hpp"

namespace holdfast::redis::sharded_channels_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kOrders = "channel:{orders}";
const std::string kStock = "channel:{orders}:stock";

class ShardedChannels : public testing::Test {
 protected:
  ShardedChannels() {
    subscriptions_.set_publish(Publish::spublish);
    lane_.start({});
  }
  ~ShardedChannels() override {
    lane_.close();
    context_.restart();
    context_.run_for(10ms);
  }

  Config settings() const {
    Config config;
    std::get<NodeAddress>(config.server).port = peer_.port();
    config.timing.subscription_linger = linger_;
    return config;
  }
  template <class Condition>
  void run_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 30s;
    while (!condition() && std::chrono::steady_clock::now() < end) {
      lane_.flush();
      context_.restart();
      context_.run_one_for(10ms);
    }
    EXPECT_TRUE(condition());
  }

  /// Sends a command that subscribes; its result comes into `results_` in order.
  void send(const std::string& command, std::vector<std::string> channels, Publish how = Publish::automatic) {
    lane_.send({.commands = {{{command}}}, .timeout = 30s, .subscribe = std::move(channels), .publish = how},
               [this](Result result) { results_.push_back(std::move(result)); });
  }
  void hear(const std::string& command) {
    run_until([&] { return peer_.has_heard(command); });
  }
  Result result() {
    run_until([&] { return !results_.empty(); });
    Result first = std::move(results_.front());
    results_.erase(results_.begin());
    return first;
  }
  void subscribe(const std::string& channel) {
    send("first", {channel});
    hear("first");
    peer_.push("ssubscribe", channel);
    peer_.say_number(1);
    EXPECT_TRUE(result().subscribed);
    peer_.forget();
  }
  void end_uses() {
    listeners_->end_use(kOrders, use_, base::Clock::now() - linger_);
    listeners_->end_use(kStock, stock_use_, base::Clock::now() - linger_);
  }
  /// Whoever listens ends that, and the linger is over.
  void end_use() {
    end_uses();
    hear("HELLO");
  }

  static constexpr std::chrono::milliseconds linger_{1000};  // swept after half of that
  boost::asio::io_context context_;
  test::RunningSchedule schedule_{context_};
  test::ScriptedPeer peer_{context_};
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  Subscriptions subscriptions_{listeners_};
  struct Events final : LaneEvents {
    void disconnected(const std::string& cause) override { ADD_FAILURE() << cause; }
    void taken_away(const std::string& channel) override { channels.push_back(channel); }
    std::vector<std::string> channels;
  } events_;
  Lane lane_{schedule_, settings(), std::make_shared<ConfiguredEndpoint>(settings()), subscriptions_, events_};
  std::vector<Result> results_;
  int woken_ = 0;
  std::uint64_t use_ = listeners_->begin_use(kOrders, [this](Busy) { ++woken_; });
  std::uint64_t stock_use_ = listeners_->begin_use(kStock, [](Busy) {});
};

TEST_F(ShardedChannels, AreSubscribedAheadOfTheCommand) {
  send("first", {kOrders, kStock});
  hear("first");
  EXPECT_THAT(peer_.heard(), ElementsAre("SSUBSCRIBE " + kOrders + " " + kStock, "first"));
  peer_.push("ssubscribe", kOrders);
  peer_.push("ssubscribe", kStock);
  peer_.push_message("smessage", kOrders);
  peer_.say_number(7);
  const Result first = result();
  EXPECT_EQ(first.replies.at(0).integer, 7);
  EXPECT_TRUE(first.subscribed);
  EXPECT_EQ(woken_, 1);
  EXPECT_TRUE(subscriptions_.all_subscribed({kOrders, kStock}));
  peer_.forget();
  send("second", {kOrders});
  hear("second");
  EXPECT_THAT(peer_.heard(), ElementsAre("second")) << "it is subscribed";
}

TEST_F(ShardedChannels, OfASlotThatIsElsewhereAreNotRefusedForGood) {
  for (const std::string error : {"MOVED 1234 127.0.0.1:7001", "ASK 1234 127.0.0.1:7001", "CLUSTERDOWN The cluster is",
                                  "TRYAGAIN Multiple keys request during rehashing of slot"}) {
    peer_.forget();
    send("first", {kOrders});
    hear("first");
    EXPECT_TRUE(peer_.has_heard("SSUBSCRIBE " + kOrders)) << "nothing is remembered before " << error;
    peer_.say_error(error);
    peer_.say_number(1);
    const Result first = result();
    EXPECT_FALSE(first.subscribed);
    ASSERT_TRUE(first.cannot_subscribe) << error;
    EXPECT_EQ(first.cannot_subscribe->meaning.fate, Fate::transient) << error;
    EXPECT_THAT(first.cannot_subscribe->cause, HasSubstr("SSUBSCRIBE " + kOrders));
  }
}

TEST_F(ShardedChannels, ThatAreForbiddenAreNotAskedForAgainAtOnce) {
  send("first", {kOrders});
  hear("first");
  peer_.say_error("NOPERM No permissions to access a channel");
  peer_.say_number(1);
  EXPECT_EQ(result().cannot_subscribe->meaning.fate, Fate::denied);
  peer_.forget();
  send("second", {kOrders});
  hear("second");
  EXPECT_THAT(peer_.heard(), ElementsAre("second"));
}

TEST_F(ShardedChannels, TakenAwayByTheServerWakeWhoeverListens) {
  subscribe(kOrders);
  peer_.push("sunsubscribe", kOrders);
  run_until([&] { return woken_ == 1; });
  EXPECT_THAT(events_.channels, ElementsAre(kOrders));
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
  peer_.push("sunsubscribe", kOrders);  // of nothing
  send("second", {kOrders});
  hear("second");
  EXPECT_THAT(peer_.heard(), ElementsAre("SSUBSCRIBE " + kOrders, "second"));
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(events_.channels.size(), 1U);
}

TEST_F(ShardedChannels, TakenAwayBehindTheirConfirmationAreNotSubscribed) {
  send("first", {kOrders});
  hear("first");
  peer_.push("ssubscribe", kOrders);
  peer_.push("sunsubscribe", kOrders);
  peer_.say_number(1);
  EXPECT_FALSE(result().subscribed) << "a waiter would wait for a message that nobody sends";
  EXPECT_EQ(woken_, 1);
}

TEST_F(ShardedChannels, TakenAwayWhileOthersAreBeingSubscribedAreNotSubscribed) {
  subscribe(kOrders);
  send("second", {kOrders, kStock});
  hear("second");
  EXPECT_TRUE(peer_.has_heard("SSUBSCRIBE " + kOrders + " " + kStock));
  peer_.push("sunsubscribe", kOrders);
  peer_.say_error("MOVED 1234 127.0.0.1:7001");
  peer_.say_error("MOVED 1234 127.0.0.1:7001");
  const Result second = result();
  EXPECT_THAT(second.replies.at(0).text, HasSubstr("MOVED"));
  EXPECT_TRUE(second.cannot_subscribe);
  EXPECT_EQ(woken_, 1);
}

TEST_F(ShardedChannels, OfAnotherSlotThanTheirLockAreSubscribedAsPlainOnes) {
  send("first", {kOrders}, Publish::publish);
  hear("first");
  EXPECT_THAT(peer_.heard(), ElementsAre("SUBSCRIBE " + kOrders, "first"));
  peer_.push("subscribe", kOrders);
  peer_.say_number(1);
  EXPECT_TRUE(result().subscribed);
  EXPECT_TRUE(subscriptions_.subscribed(kOrders, Publish::publish));
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
}

// --- both ---

TEST_F(ShardedChannels, AreSubscribedInBothWays) {
  subscriptions_.set_publish(Publish::both);
  send("first", {kOrders});
  hear("first");
  EXPECT_THAT(peer_.heard(), ElementsAre("SUBSCRIBE " + kOrders, "SSUBSCRIBE " + kOrders, "first"));
  peer_.push("subscribe", kOrders);
  run_until([&] { return subscriptions_.any_subscribed(); });
  EXPECT_FALSE(subscriptions_.subscribed(kOrders)) << "half of it";
  peer_.push("ssubscribe", kOrders);
  peer_.say_number(1);
  EXPECT_TRUE(result().subscribed);
  peer_.push_message("message", kOrders);
  peer_.push_message("smessage", kOrders);
  run_until([&] { return woken_ == 2; });
  subscriptions_.expect_own(kOrders);
  EXPECT_EQ(woken_, 4);
  peer_.push_message("smessage", kOrders);
  peer_.push_message("message", kOrders);
  peer_.push_message("message", kOrders);
  run_until([&] { return woken_ == 5; });
}

TEST_F(ShardedChannels, RefusedInEitherWayAreNotSubscribed) {
  subscriptions_.set_publish(Publish::both);
  send("first", {kOrders});
  hear("first");
  peer_.say_error("LOADING");
  peer_.push("ssubscribe", kOrders);
  peer_.say_number(1);
  Result first = result();
  EXPECT_EQ(first.replies.at(0).integer, 1);
  EXPECT_FALSE(first.subscribed);
  EXPECT_THAT(first.cannot_subscribe->cause, HasSubstr("SUBSCRIBE " + kOrders));
  send("second", {kOrders});
  hear("second");
  peer_.push("subscribe", kOrders);
  peer_.say_error("MOVED 1234 127.0.0.1:7001");
  peer_.say_number(2);
  Result second = result();
  EXPECT_EQ(second.replies.at(0).integer, 2);
  EXPECT_FALSE(second.subscribed);
  EXPECT_THAT(second.cannot_subscribe->cause, HasSubstr("SSUBSCRIBE " + kOrders));
}

TEST_F(ShardedChannels, SubscribedInBothWaysAreLeftInBoth) {
  subscriptions_.set_publish(Publish::both);
  send("first", {kOrders});
  hear("first");
  peer_.push("subscribe", kOrders);
  peer_.push("ssubscribe", kOrders);
  peer_.say_number(1);
  EXPECT_TRUE(result().subscribed);
  peer_.forget();
  end_use();
  EXPECT_THAT(peer_.heard(), ElementsAre("UNSUBSCRIBE " + kOrders, "SUNSUBSCRIBE " + kOrders, "HELLO"));
  send("second", {});
  peer_.push("unsubscribe", kOrders);
  peer_.push("sunsubscribe", kOrders);
  peer_.say_hello();
  peer_.say_number(2);
  EXPECT_EQ(result().replies.at(0).integer, 2);
}

// --- leaving ---

TEST_F(ShardedChannels, ThatNobodyUsesAreLeftOneByOne) {
  subscribe(kOrders);
  subscribe(kStock);
  peer_.forget();
  end_use();
  EXPECT_THAT(peer_.heard(), ElementsAre("SUNSUBSCRIBE " + kOrders, "SUNSUBSCRIBE " + kStock, "HELLO"));
  peer_.push("sunsubscribe", kOrders);
  peer_.push("sunsubscribe", kStock);
  peer_.say_hello();
  send("second", {});
  hear("second");
  peer_.say_number(2);
  EXPECT_EQ(result().replies.at(0).integer, 2);
  EXPECT_EQ(woken_, 0) << "it was asked for";
  EXPECT_THAT(events_.channels, IsEmpty());
}

TEST_F(ShardedChannels, TakenAwayWhileTheyAreBeingLeftKeepStepWithTheReplies) {
  subscribe(kOrders);
  subscribe(kStock);
  end_use();
  send("second", {});
  send("third", {});
  hear("third");
  // The server has given the slot away before it reads what is under way, which it then refuses.
  peer_.push("sunsubscribe", kOrders);
  peer_.push("sunsubscribe", kStock);
  peer_.say_error("MOVED 1234 127.0.0.1:7001");
  peer_.say_error("MOVED 1234 127.0.0.1:7001");
  peer_.say_hello();
  peer_.say_number(2);
  peer_.say_error("MOVED 1234 127.0.0.1:7001");
  EXPECT_EQ(result().replies.at(0).integer, 2);
  EXPECT_THAT(result().replies.at(0).text, HasSubstr("MOVED"));
  EXPECT_EQ(woken_, 0);
  EXPECT_FALSE(subscriptions_.any_subscribed());
}

TEST_F(ShardedChannels, TakenAwayInTheMiddleOfBeingLeftKeepStepWithTheReplies) {
  subscribe(kOrders);
  subscribe(kStock);
  end_use();
  send("second", {});
  hear("second");
  peer_.push("sunsubscribe", kOrders);
  peer_.push("sunsubscribe", kStock);  // of itself
  peer_.say_error("MOVED 1234 127.0.0.1:7001");
  peer_.say_hello();
  peer_.say_number(2);
  EXPECT_EQ(result().replies.at(0).integer, 2);
}

TEST_F(ShardedChannels, WantedAgainWhileTheyAreBeingLeftAreSubscribedBehindThat) {
  subscribe(kOrders);
  end_use();
  listeners_->begin_use(kOrders, [this](Busy) { ++woken_; });
  send("second", {kOrders});
  hear("second");
  EXPECT_THAT(peer_.heard(), ElementsAre("SUNSUBSCRIBE " + kOrders, "HELLO", "SSUBSCRIBE " + kOrders, "second"));
  peer_.push("sunsubscribe", kOrders);
  peer_.say_hello();
  peer_.push("ssubscribe", kOrders);
  peer_.say_number(2);
  EXPECT_TRUE(result().subscribed);
  EXPECT_TRUE(subscriptions_.subscribed(kOrders));
  EXPECT_EQ(woken_, 0);
}

TEST_F(ShardedChannels, WantedAgainWhileTheirSlotLeavesAreNotSubscribed) {
  subscribe(kOrders);
  end_use();
  send("second", {kOrders});
  hear("second");
  peer_.push("sunsubscribe", kOrders);
  for (int i = 0; i < 2; ++i) {
    peer_.say_error("MOVED 1234 127.0.0.1:7001");
    if (i == 0) peer_.say_hello();
  }
  peer_.say_error("MOVED 1234 127.0.0.1:7001");
  const Result second = result();
  EXPECT_THAT(second.replies.at(0).text, HasSubstr("MOVED"));
  EXPECT_EQ(second.cannot_subscribe->meaning.fate, Fate::transient);
  EXPECT_FALSE(subscriptions_.subscribed(kOrders));
}

TEST_F(ShardedChannels, ThatMayNotBeLeftAreNotLeftAgainOnThatConnection) {
  subscribe(kOrders);
  end_use();
  peer_.say_error("NOPERM this user has no permissions to run the 'sunsubscribe' command");
  peer_.say_hello();
  peer_.forget();
  EXPECT_FALSE(subscriptions_.subscribed(kOrders)) << "whoever waits subscribes, to be sure";
  subscribe(kStock);
  const auto swept = std::chrono::steady_clock::now() + 2 * linger_;
  run_until([&] { return std::chrono::steady_clock::now() > swept; });
  EXPECT_THAT(peer_.heard(), IsEmpty());
  EXPECT_TRUE(subscriptions_.subscribed(kStock));
}

}  // namespace
}  // namespace holdfast::redis::sharded_channels_test
