// SPDX-License-Identifier: Apache-2.0
// Wake-up messages that never come: a waiter enters all the same, by the time to live, a reconnect, or the safety poll,
// and the counters say which.
#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::missed_wake_test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Lt;

class MissedWake : public Faults {
 protected:
  /// Held by a stranger, who gives it back without telling anybody.
  void hold(milliseconds lease) {
    put_held_lock(raw, "orders");
    raw.command("PEXPIRE", "orders", lease.count());
  }
  void give_back_silently() { raw.command("HDEL", "orders", kSomebodyElse); }

  std::future<Hold> wait(Client& client) {
    auto waiting = in_thread([&client] { return client.lock("orders").acquire(); });
    EXPECT_TRUE(listeners(raw, "orders"));
    return waiting;
  }
};

TEST_F(MissedWake, TheSafetyPollFindsTheLockFreeAndIsCounted) {
  const Standstill still;
  Config settings = config();
  settings.timing.safety_poll = 400ms;
  Client client(settings);
  hold(1min);
  std::future<Hold> waiting = wait(client);
  EXPECT_TRUE(log->wait_for("poll", 2));
  EXPECT_EQ(client.counters().safety_poll_wakes, 0U);
  give_back_silently();
  const auto given_back = steady_clock::now();
  ASSERT_TRUE(ready(waiting));
  EXPECT_LT(steady_clock::now() - given_back, 400ms + 1s + still.total());
  const Hold hold = waiting.get();
  EXPECT_EQ(client.counters().safety_poll_wakes, 1U);
  EXPECT_GE(client.counters().safety_polls, 3U);
  EXPECT_EQ(client.counters().wakes, 0U);
  EXPECT_TRUE(log->wait_for("granted"));
  EXPECT_EQ(log->details("poll", "orders").back(), "granted");
  EXPECT_EQ(log->details("poll", "orders").front(), "busy");
}

TEST_F(MissedWake, TheSafetyPollIsRare) {
  Config settings = config();
  settings.timing.safety_poll = 200ms;
  Client client(settings);
  hold(1min);
  std::stop_source stop;
  auto waiting = in_thread([&] { return client.lock("orders").try_acquire({.wait = 1min, .stop = stop.get_token()}); });
  EXPECT_FALSE(ready(waiting, 2s));
  stop.request_stop();
  EXPECT_EQ(waiting.get(), std::nullopt);
  // Between half of the setting and all of it, so 10 to 20 times; fewer on a slow machine.
  EXPECT_THAT(client.counters().safety_polls, testing::AllOf(Ge(3U), Lt(22U)));
}

TEST_F(MissedWake, TheTimeToLiveEndsTheWait) {
  Client client(config());
  hold(500ms);
  const auto began = steady_clock::now();
  std::future<Hold> waiting = wait(client);
  ASSERT_TRUE(ready(waiting));
  EXPECT_THAT(steady_clock::now() - began, testing::AllOf(Ge(450ms), Lt(5s)));
  EXPECT_EQ(client.counters().safety_polls, 0U);
  EXPECT_EQ(client.counters().wakes, 0U);
  EXPECT_TRUE(log->wait_for("granted"));
  EXPECT_THAT(log->details("granted"), ElementsAre("contended"));
}

TEST_F(MissedWake, ATimeToLiveThatIsProlongedIsWaitedForAgain) {
  Client client(config());
  hold(300ms);
  std::future<Hold> waiting = wait(client);
  for (int i = 0; i < 5; ++i) {
    raw.command("PEXPIRE", "orders", 300);
    EXPECT_FALSE(ready(waiting, 150ms));
  }
  ASSERT_TRUE(ready(waiting));
}

TEST_F(MissedWake, AReconnectWakesTheWaiter) {
  Client client(config());
  hold(1min);
  std::future<Hold> waiting = wait(client);
  give_back_silently();
  EXPECT_FALSE(ready(waiting, 100ms));
  raw.command("CLIENT", "KILL", "TYPE", "pubsub");
  ASSERT_TRUE(ready(waiting));
  EXPECT_EQ(client.counters().safety_polls, 0U);
  EXPECT_EQ(client.counters().connections, 2U);
}

TEST_F(MissedWake, AMessageThatCameWhileTheConnectionWasGoneIsMadeUpFor) {
  RedisServer tcp({.listen = ServerOptions::Listen::tcp});
  Raw look(tcp);
  Proxy proxy(tcp);
  Client client(config(proxy.url()));
  Client holder(config(tcp.url()));
  Hold held = holder.lock("orders").acquire({.lease = renewed(1min)});
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(look, "orders"));
  proxy.refuse(true);
  proxy.cut();
  EXPECT_TRUE(eventually([&] { return log->count("down") > 0; }));
  EXPECT_EQ(held.release(), ReleaseOutcome::released);
  EXPECT_FALSE(ready(waiting, 100ms));
  proxy.refuse(false);
  ASSERT_TRUE(ready(waiting));
  EXPECT_EQ(client.counters().safety_polls, 0U);
}

TEST_F(MissedWake, MessagesThatMeanNothingCostOneQuestionEach) {
  Client client(config());
  hold(1min);
  std::future<Hold> waiting = wait(client);
  const std::uint64_t before = client.counters().commands;
  for (int i = 0; i < 10; ++i) raw.command("PUBLISH", channel_of("orders"), "0");
  EXPECT_TRUE(eventually([&] { return client.counters().wakes == 10; }));
  EXPECT_FALSE(ready(waiting, 100ms));
  EXPECT_THAT(client.counters().commands - before, testing::AllOf(Ge(1U), testing::Le(10U)));
  give_back_silently();
  raw.command("PUBLISH", channel_of("orders"), "not even a number");
  ASSERT_TRUE(ready(waiting));
}

}  // namespace
}  // namespace holdfast::test::missed_wake_test
