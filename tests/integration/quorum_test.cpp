// SPDX-License-Identifier: Apache-2.0
// RedLock over five real servers of which some are down, frozen or forgetful.
#include <deque>
#include <iostream>

#include "faults.hpp"
#include "support/counter.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::quorum_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr std::size_t kServers = 5;

class FiveServers : public testing::Test {
 protected:
  FiveServers() : servers_(kServers) {}

  /// A client per server, with a lease that is short enough for renewals to be seen.
  std::deque<Client> clients(milliseconds lease = 600ms) {
    std::deque<Client> made;
    for (const RedisServer& server : servers_) {
      Config config = quick_config(server.url());
      config.lease = lease;
      config.timing.command_timeout = 1000ms;
      made.emplace_back(config);
    }
    for (std::size_t i = 0; i < kServers; ++i) {
      if (!frozen_[i] && !stopped_[i]) made[i].ping();
    }
    return made;
  }
  static RedLock red_lock(std::deque<Client>& clients, const std::string& name = "orders") {
    std::vector<Lock> members;
    for (Client& client : clients) members.push_back(client.lock(name));
    return RedLock(members);
  }

  void stop(std::size_t i) {
    servers_[i].stop();
    stopped_[i] = true;
  }
  void freeze(std::size_t i) {
    servers_[i].freeze();
    frozen_[i] = true;
  }
  void thaw(std::size_t i) {
    servers_[i].thaw();
    frozen_[i] = false;
  }

  /// On how many of the servers that answer this owner has the lock; with an empty owner: anybody.
  std::size_t holding(const std::string& owner = {}, const std::string& name = "orders") {
    std::size_t count = 0;
    for (std::size_t i = 0; i < kServers; ++i) {
      if (stopped_[i] || frozen_[i]) continue;
      const auto fields = Raw(servers_[i]).hgetall(name);
      if (owner.empty() ? !fields.empty() : fields.contains(owner)) ++count;
    }
    return count;
  }

  std::deque<RedisServer> servers_;
  bool stopped_[kServers] = {};
  bool frozen_[kServers] = {};
};

TEST_F(FiveServers, AllGrantItAndAllForgetIt) {
  std::deque<Client> all = clients();
  RedLock lock = red_lock(all);
  Hold hold = lock.acquire();
  EXPECT_TRUE(eventually([&] { return holding(hold.owner()) == kServers; }));
  EXPECT_LE(hold.valid_for(), 600ms - 6ms - 2ms);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return holding() == 0; }));
}

TEST_F(FiveServers, WorkWithTwoOfThemStopped) {
  stop(0);
  stop(3);
  std::deque<Client> all = clients(3s);
  RedLock lock = red_lock(all);
  for (int i = 0; i < 5; ++i) {
    Hold hold = lock.acquire({.wait = 10s});
    EXPECT_GE(holding(hold.owner()), 3U);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  }
}

TEST_F(FiveServers, WorkWithTwoOfThemFrozen) {
  std::deque<Client> all = clients(3s);
  freeze(1);
  freeze(2);
  RedLock lock = red_lock(all);
  std::vector<double> took;
  for (int i = 0; i < 10; ++i) {
    const auto began = steady_clock::now();
    Hold hold = lock.acquire({.wait = 10s});
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    took.push_back(std::chrono::duration<double, std::milli>(steady_clock::now() - began).count());
  }
  std::ranges::sort(took);
  std::cout << "two of five frozen: acquire and release, median " << took[5] << " ms, worst " << took.back() << " ms\n";
  EXPECT_LT(took[5], 500);
  thaw(1);
  thaw(2);
  EXPECT_TRUE(eventually([&] { return holding() == 0; })) << "late votes must not stay";
}

TEST_F(FiveServers, RefuseClearlyWhenThreeOfThemAreGone) {
  std::deque<Client> all = clients();
  for (const std::size_t i : {0U, 2U, 4U}) stop(i);
  RedLock lock = red_lock(all);
  const auto error = error_of([&] { return lock.try_acquire(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code(Errc::no_quorum)) << error->what();
  for (const Client& client : all) EXPECT_THAT(error->what(), HasSubstr(client.node()));
  EXPECT_THAT(error->cause(), AllOf(HasSubstr("2 of 5 servers granted it"), HasSubstr("3 are needed")));
  EXPECT_TRUE(eventually([&] { return holding() == 0; })) << "what a minority granted must be given back";
}

TEST_F(FiveServers, KeepAHoldWhileTwoOfThemDie) {
  std::deque<Client> all = clients();
  RedLock lock = red_lock(all);
  Hold hold = lock.acquire();
  stop(0);  // that of the client that serves the lock
  stop(1);
  EXPECT_FALSE(eventually([&] { return hold.lost_token().stop_requested(); }, 3 * 600ms));
  EXPECT_GT(hold.valid_for(), 0ms);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(FiveServers, LoseAHoldBeforeItEndsAnywhereWhenThreeOfThemDie) {
  std::deque<Client> all = clients();
  RedLock lock = red_lock(all);
  Hold hold = lock.acquire();
  ASSERT_TRUE(eventually([&] { return holding(hold.owner()) == kServers; }));
  for (const std::size_t i : {0U, 1U, 2U}) stop(i);
  // Whoever sees it free on a living server must find that the holder knows: look at the server first.
  bool known = false;
  EXPECT_TRUE(eventually([&] {
    const bool free = holding(hold.owner()) < 2;
    known = hold.lost_token().stop_requested();
    return free;
  }));
  EXPECT_TRUE(known);
  EXPECT_EQ(hold.state(), HoldState::lost);
}

TEST_F(FiveServers, AreHealedWhenOneComesBackEmpty) {
  std::deque<Client> all = clients();
  RedLock lock = red_lock(all);
  Hold hold = lock.acquire();
  ASSERT_TRUE(eventually([&] { return holding(hold.owner()) == kServers; }));
  Raw(servers_[2]).flushall();
  EXPECT_TRUE(eventually([&] { return holding(hold.owner()) == kServers; })) << "a renewal takes it again";
  std::deque<Client> others = clients();
  RedLock rival = red_lock(others);
  EXPECT_EQ(rival.try_acquire(), std::nullopt);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return holding() == 0; }));
  EXPECT_TRUE(rival.try_acquire({.wait = 10s}));
}

TEST_F(FiveServers, TellTheHolderWhenAMajorityWasTakenByForce) {
  std::deque<Client> all = clients();
  RedLock lock = red_lock(all);
  Hold hold = lock.acquire();
  ASSERT_TRUE(eventually([&] { return holding(hold.owner()) == kServers; }));
  for (const std::size_t i : {0U, 2U, 4U}) Raw(servers_[i]).command("DEL", "orders");
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_TRUE(eventually([&] { return holding() == 0; })) << "the rest is given back";
}

TEST_F(FiveServers, KeepNothingOfAnAttemptThatFailed) {
  for (const std::size_t i : {0U, 1U, 2U}) {
    put_held_lock(Raw(servers_[i]), "orders");
  }
  std::deque<Client> all = clients();
  RedLock lock = red_lock(all);
  EXPECT_EQ(lock.try_acquire(), std::nullopt);
  EXPECT_EQ(lock.try_acquire({.wait = 300ms}), std::nullopt);
  EXPECT_TRUE(eventually([&] { return holding() == 3; }));
  std::stop_source stop;
  auto waiting = in_thread([&] { return lock.try_acquire({.wait = 60s, .stop = stop.get_token()}); });
  EXPECT_EQ(waiting.wait_for(200ms), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(waiting.get(), std::nullopt);
  EXPECT_TRUE(eventually([&] { return holding() == 3; }));
}

TEST_F(FiveServers, WakeAWaiterByMessages) {
  std::deque<Client> all = clients(30s);
  std::deque<Client> others = clients(30s);
  RedLock lock = red_lock(all);
  RedLock rival = red_lock(others);
  std::vector<double> took;
  for (int i = 0; i < 10; ++i) {
    Hold hold = lock.acquire();
    auto waiting = in_thread([&] {
      Hold entered = rival.acquire();
      return steady_clock::now();
    });
    for (RedisServer& server : servers_) {
      Raw raw(server);
      ASSERT_TRUE(listeners(raw, "orders"));
    }
    const auto released = steady_clock::now();
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    took.push_back(std::chrono::duration<double, std::milli>(waiting.get() - released).count());
  }
  std::ranges::sort(took);
  std::cout << "a waiter for five servers enters after a release: median " << took[5] << " ms\n";
  EXPECT_LT(took[5], 500);
}

/// What they are granted elsewhere they give back, and are told of it, which is no reason to ask again.
TEST_F(FiveServers, OfWhichAMajorityIsTakenAreAskedSeldom) {
  for (std::size_t i = 0; i < 3; ++i) put_held_lock(Raw(servers_[i]), "orders");
  std::deque<Client> first = clients(), second = clients();
  std::vector<std::future<MaybeHold>> waiting;
  for (std::deque<Client>* each : {&first, &second}) {
    waiting.push_back(in_thread([lock = red_lock(*each)]() mutable { return lock.try_acquire({.wait = 2s}); }));
  }
  for (std::future<MaybeHold>& each : waiting) EXPECT_EQ(each.get(), std::nullopt);
  EXPECT_LT(Raw(servers_[4]).calls("hset"), 20);
}

TEST_F(FiveServers, LetOneInAtATime) {
  Counter counter;
  std::atomic<long long> entered[2] = {0, 0};
  const auto end = steady_clock::now() + 2s;
  {
    std::deque<Client> sets[2] = {clients(30s), clients(30s)};
    std::vector<std::jthread> threads;
    for (std::size_t set = 0; set < 2; ++set) {
      const RedLock lock = red_lock(sets[set]);
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&, set, lock = lock]() mutable {
          while (steady_clock::now() < end) {
            const Hold hold = lock.acquire();
            counter.increment();
            ++entered[set];
          }
        });
      }
    }
  }
  std::cout << "two processes' worth of clients on five servers: " << entered[0] << " and " << entered[1]
            << " entries in 2 s\n";
  EXPECT_EQ(counter.calls(), entered[0] + entered[1]);
  EXPECT_EQ(counter.lost(), 0);
  EXPECT_GT(lost_without_a_lock(6, 20), 0);
  EXPECT_GT(entered[0], 0);
  EXPECT_GT(entered[1], 0);
}

TEST_F(FiveServers, AreAllGivenBackByAClosingClient) {
  std::deque<Client> all = clients(30s);
  std::optional<Hold> hold = red_lock(all).acquire();
  ASSERT_TRUE(eventually([&] { return holding() == kServers; }));
  for (Client& client : all) client.close();
  EXPECT_EQ(hold->state(), HoldState::lost);
  EXPECT_EQ(holding(), 0U);
}

TEST_F(FiveServers, BoundADestructorWhenThreeOfThemFreeze) {
  std::deque<Client> all = clients(30s);
  std::optional<Hold> hold = red_lock(all).acquire();
  ASSERT_TRUE(eventually([&] { return holding() == kServers; }));
  for (const std::size_t i : {0U, 1U, 2U}) freeze(i);
  EXPECT_LT(duration_of([&] { hold.reset(); }), 10s);
  for (const std::size_t i : {0U, 1U, 2U}) thaw(i);
  EXPECT_TRUE(eventually([&] { return holding() == 0; }));
}

TEST(RedLockOfNothing, IsRefused) {
  RedisServer server;
  Client client(server.url());
  EXPECT_EQ(error_of([&] { return RedLock(std::vector<Lock>{}); })->code(), code(Errc::invalid_argument));
  const std::vector<Lock> twice{client.lock("orders"), client.lock("orders")};
  EXPECT_EQ(error_of([&] { return RedLock(twice); })->code(), code(Errc::invalid_argument));
}

}  // namespace
}  // namespace holdfast::test::quorum_test
