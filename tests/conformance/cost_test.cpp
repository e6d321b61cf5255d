// SPDX-License-Identifier: Apache-2.0
// What the lock costs, read from the server's own trace of commands.
#include <thread>

#include <holdfast/holdfast.hpp>

#include "conformance.hpp"
#include "support/proxy.hpp"

namespace holdfast::test::cost_test {
namespace {

class Cost : public ::testing::Test {
 protected:
  Config config(const std::string& url) const {
    Config config = optimised_config(url);
    config.loss_notice = false;  // looks at each key once more for each renewal
    config.lease = 60s;
    config.timing.safety_poll = 60s;
    return config;
  }
  /// Connected to the server of "orders", which knows its scripts.
  static void warm_up(Client& client) {
    Lock lock = client.lock("{orders}warm-up");
    lock.lock();
    EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::released);
  }
  /// What came for the locks: in a cluster a node is asked for the map now and then, too.
  static std::vector<MonitorLine> lines_of(Monitor& monitor) {
    std::vector<MonitorLine> lines = monitor.lines();
    std::erase_if(lines, [](const MonitorLine& line) { return line.args[0] == "CLUSTER"; });
    return lines;
  }
  /// The seconds at which the server saw a command, as its trace says.
  static double time_of(const MonitorLine& line) { return std::stod(line.text); }

  Site site;
};

TEST_F(Cost, AFreeLockTakesOneCommandAndItsReleaseAnother) {
  Client client(config(site.url()));
  warm_up(client);
  Lock lock = client.lock("orders");
  Monitor monitor(site.server("orders"));
  lock.lock();
  EXPECT_EQ(lines_of(monitor).size(), 1U);
  lock.unlock();
  EXPECT_TRUE(after_unlock([&] { return lines_of(monitor).size() == 2; }));
  Hold hold = lock.acquire();
  EXPECT_EQ(lines_of(monitor).size(), 3U);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(lines_of(monitor).size(), 4U);
}

TEST_F(Cost, LookingAtTheOwnHoldAndReentryTakeNoCommand) {
  Client client(config(site.url()));
  warm_up(client);
  Lock lock = client.lock("orders");
  lock.lock();
  Monitor monitor(site.server("orders"));
  lock.lock();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.try_lock_for(1s));
  EXPECT_EQ(lock.this_thread().hold_count(), 4);
  EXPECT_TRUE(lock.this_thread().is_holding());
  EXPECT_GT(lock.this_thread().valid_for(), 0ms);
  EXPECT_FALSE(lock.this_thread().lost_token().stop_requested());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::still_held);
  EXPECT_TRUE(lines_of(monitor).empty());
}

TEST_F(Cost, AFirstWaitAsksAndThenSubscribesAndAsksAgainInOneWrite) {
  if (in_cluster()) GTEST_SKIP() << "a cluster names its nodes, not a proxy before one";
  Proxy proxy(site.server("orders"), Proxy::Listen::unix_socket);
  Client holder(config(site.url()));
  Client waiter(config(proxy.url()));
  warm_up(waiter);
  Hold hold = holder.lock("orders").acquire();
  Monitor monitor(site.server("orders"));
  // With slow replies a second write would be seen by the server this much after the first.
  proxy.delay(Proxy::Direction::to_client, 300ms);
  EXPECT_FALSE(waiter.lock("orders").try_lock_for(2s));
  const std::vector<MonitorLine> lines = lines_of(monitor);
  ASSERT_EQ(lines.size(), 3U) << ::testing::PrintToString(lines.size());
  EXPECT_GE(time_of(lines[1]) - time_of(lines[0]), 0.25);
  EXPECT_LT(time_of(lines[2]) - time_of(lines[1]), 0.15);
  const auto is_subscribe = [](const MonitorLine& line) { return line.args[0] == "SUBSCRIBE"; };
  EXPECT_TRUE(is_subscribe(lines[1])) << lines[1].text;
  std::vector<std::string> counting = lines[0].args;
  counting.emplace_back("redisson_lock__channel:{orders}");  // those who listen
  EXPECT_EQ(lines[2].args, counting);
}

TEST_F(Cost, ASecondWaitWhileSubscribedAsksOnce) {
  Client holder(config(site.url()));
  Client waiter(config(site.url()));
  warm_up(waiter);
  Hold hold = holder.lock("orders").acquire();
  EXPECT_FALSE(waiter.lock("orders").try_lock_for(100ms));
  Monitor monitor(site.server("orders"));
  EXPECT_FALSE(waiter.lock("orders").try_lock_for(100ms));
  EXPECT_EQ(lines_of(monitor).size(), 1U);
}

TEST_F(Cost, ATryOnAHeldLockTakesOneCommand) {
  Client holder(config(site.url()));
  Client other(config(site.url()));
  warm_up(other);
  Hold hold = holder.lock("orders").acquire();
  Monitor monitor(site.server("orders"));
  EXPECT_FALSE(other.lock("orders").try_lock());
  EXPECT_EQ(lines_of(monitor).size(), 1U);
}

TEST_F(Cost, TenThousandRenewedLocksTakeAtMostTwoHundredCommandsPerPeriod) {
  if (in_cluster()) GTEST_SKIP() << "a command of a cluster is about one slot, so there are as many as slots";
  constexpr std::size_t kLocks = 10000;
  constexpr int kPeriods = 3;
  Config settings = config(site.url());
  settings.lease = 9s;
  Client client(settings);
  std::vector<Hold> holds(kLocks);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < kLocks; i += 8) holds[i] = client.lock("lock-" + std::to_string(i)).acquire();
    });
  }
  for (std::thread& thread : threads) thread.join();
  // One period lets the renewals find their rhythm; then some more are counted.
  const std::uint64_t first = client.counters().renewals + kLocks;
  ASSERT_TRUE(eventually([&] { return client.counters().renewals >= first; }));
  const Counters before = client.counters();
  ASSERT_TRUE(eventually([&] { return client.counters().renewals >= before.renewals + kPeriods * kLocks; }));
  const Counters after = client.counters();
  const std::uint64_t extended = after.renewals - before.renewals;
  const std::uint64_t commands = after.commands - before.commands;
  RecordProperty("commands_per_period", std::to_string(commands * kLocks / extended));
  EXPECT_LE(commands * kLocks, 200 * extended);
  EXPECT_EQ(after.lost, 0U);
  EXPECT_TRUE(std::ranges::all_of(holds, [](const Hold& hold) { return hold.valid_for() > 0ms; }));
}

}  // namespace
}  // namespace holdfast::test::cost_test
