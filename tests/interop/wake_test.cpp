// SPDX-License-Identifier: Apache-2.0
// Wake-ups between languages: a release on one side lets waiters of the other side in at once.
#include <cstdio>

#include "interop.hpp"

namespace holdfast::test::wake_test {
namespace {

class WakeUps : public Interop {
 protected:
  /// As it is by default, so that a wake-up that got lost is counted.
  WakeUps() {
    set("lease_ms", 30s);
    set("safety_poll_ms", 2s);
  }

  static std::string in_milliseconds(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f ms", value);
    return text;
  }
};
HOLDFAST_INTEROP(WakeUps, both_ways(kRedissons));

TEST_P(WakeUps, AWaiterEntersWithinFiftyMillisecondsOfARelease) {
  std::vector<double> latencies;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "orders-" + std::to_string(i);
    holder().lock(name);
    const Pending waiting = other().start_lock(name);
    ASSERT_TRUE(listeners(name, 1));
    const Answer released = holder().start_unlock(name).get();
    ASSERT_EQ(released.word(), "released") << released.text;
    const Answer entered = waiting.get();
    ASSERT_TRUE(entered.ok) << entered.text;
    latencies.push_back(std::chrono::duration<double, std::milli>(entered.ended - released.began).count());
    EXPECT_EQ(other().unlock(name), "released");
  }
  std::ranges::sort(latencies);
  const double median = latencies[latencies.size() / 2];
  figure("median", in_milliseconds(median));
  figure("worst of 20", in_milliseconds(latencies.back()));
  EXPECT_LT(median, 50);
  if (second_side() == Side::holdfast) {
    EXPECT_EQ(other().taker().counter("safety_poll_wakes"), 0U);
  }
}

TEST_P(WakeUps, EveryWaiterOfBothSidesGetsItsTurn) {
  const std::vector<Taker*> more = start({Side::peer, Side::holdfast});
  std::vector<Party> waiters{other(), Party(*more[0], 1), Party(*more[0], 2), Party(*more[1], 1), Party(*more[1], 2)};
  holder().lock("orders");
  std::vector<Pending> waiting;
  for (Party& waiter : waiters) waiting.push_back(waiter.start_lock("orders"));
  ASSERT_TRUE(listeners("orders", 3));
  const auto released = steady_clock::now();
  holder().unlock("orders");
  // Each gives way to the next as soon as it is inside, in whatever order they come.
  std::vector<bool> done(waiters.size());
  ASSERT_TRUE(eventually([&] {
    for (std::size_t i = 0; i < waiters.size(); ++i) {
      if (done[i] || !waiting[i].answered()) continue;
      done[i] = true;
      EXPECT_EQ(waiters[i].unlock("orders"), "released");
    }
    return std::ranges::all_of(done, [](bool it) { return it; });
  }));
  EXPECT_LT(steady_clock::now() - released, kPrompt);
}

/// As a crowd of Holdfast's waiters publishes it.
TEST_P(WakeUps, AMessageThatItIsBusyWakesNobodyAndEndsNoWait) {
  holder().lock("orders");
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  for (const char* left : {"-1", "-30000", "-315569520000"}) {
    raw.command("PUBLISH", "redisson_lock__channel:{orders}", left);
  }
  EXPECT_FALSE(eventually([&] { return waiting.answered(); }, 300ms));
  const Answer released = holder().start_unlock("orders").get();
  ASSERT_EQ(released.word(), "released") << released.text;
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released.began, kPrompt);
}

TEST_P(WakeUps, AForcedReleaseWakesAWaiter) {
  holder().lock("orders");
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  const auto forced = steady_clock::now();
  EXPECT_TRUE(holder().force_release("orders"));
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - forced, kPrompt);
}

TEST_P(WakeUps, ACancelledWaiterLeavesNothingBehind) {
  holder().lock("orders");
  const long long before = scripts_run();
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  ASSERT_TRUE(about_to_sleep(1, before));
  EXPECT_TRUE(other().cancel(waiting));
  EXPECT_EQ(waiting.get().word(), "cancelled");
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", 500ms));
}

}  // namespace
}  // namespace holdfast::test::wake_test
