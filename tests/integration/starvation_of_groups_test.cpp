// SPDX-License-Identifier: Apache-2.0
// Each allocation fails once: where there are several servers, replicas, Sentinels or a cluster.
#include "acks.hpp"
#include "cluster.hpp"
#include "sentinel.hpp"
#include "starving.hpp"

namespace holdfast::test::starvation_of_groups_test {
namespace {

/// For leases that end soon, and calls that do.
Config starved(Config settings) {
  settings.observer = nullptr;
  settings.lease = 400ms;
  settings.timing.patience = 3s;
  settings.timing.command_timeout = 2s;
  settings.timing.connect_timeout = 500ms;  // without memory for its answer a name look-up takes that long
  settings.timing.release_timeout = 500ms;
  return settings;
}

/// With a lease that does not end on a busy machine.
void warm_up(BasicLock& lock) {
  for (int i = 0; i < 5; ++i) ASSERT_EQ(lock.acquire({.lease = renewed(10s)}).release(), ReleaseOutcome::released);
}

class StarvingLocks : protected Starving {
 protected:
  /// And notes what came of it.
  ReleaseOutcome release(Hold& hold) {
    const ReleaseOutcome outcome = hold.release();
    const Exempt here;
    note(to_string(outcome));
    return outcome;
  }
  void take_and_release(BasicLock& lock, const AcquireOptions& options = {.wait = 2s}) {
    try_to([&] {
      Hold hold = lock.acquire(options);
      release(hold);
    });
  }
  ReleaseOutcome begin_and_end(const Config& settings) {
    Client client(settings);
    Hold hold = client.lock("orders").acquire({.wait = 5s});
    return release(hold);
  }
  /// A client that must find its server first.
  void begin_and_end_each(const Config& settings) {
    const std::size_t descriptors = open_descriptors();
    fail_each(
        [&] { try_to([&] { begin_and_end(settings); }); },
        [&] { ASSERT_TRUE(eventually([&] { return open_descriptors() <= descriptors; })) << descriptors_in_words(); },
        25);
    EXPECT_EQ(begin_and_end(settings), ReleaseOutcome::released);
  }
};

// --- groups ---

class StarvationOfGroups : public testing::Test, protected StarvingLocks {
 protected:
  StarvationOfGroups() {
    for (const RedisServer& server : servers_) {
      clients_.emplace_back(starved(quick_config(server.url())));
      clients_.back().ping();
      looks_.emplace_back(server);
    }
  }
  ~StarvationOfGroups() override { allocations::before_failure = -1; }

  std::vector<Lock> members(std::size_t count) {
    std::vector<Lock> locks;
    for (std::size_t i = 0; i < count; ++i) locks.push_back(clients_[i].lock("orders"));
    return locks;
  }
  void fail_on(BasicLock lock) {
    warm_up(lock);
    fail_each([&] { take_and_release(lock); },
              [&] {
                for (Raw& look : looks_) ASSERT_TRUE(eventually([&] { return !look.exists("orders"); }, 10s));
                ASSERT_NO_THROW(static_cast<void>(lock.acquire({.wait = 10s}).release()));
              });
  }

  std::vector<Client> clients_;

 private:
  std::array<RedisServer, 3> servers_;
  std::vector<Raw> looks_;
};

TEST_F(StarvationOfGroups, OfOneServer) { fail_on(clients_[0].multi_lock({"orders", "stock"})); }

TEST_F(StarvationOfGroups, OverTwoServers) { fail_on(MultiLock(members(2))); }

TEST_F(StarvationOfGroups, OfVotes) { fail_on(RedLock(members(3))); }

// --- replicas ---

class StarvationOfAcks : public Replicated, protected StarvingLocks {};

TEST_F(StarvationOfAcks, OnAcquireAndRelease) {
  add_replicas(1);
  Client client(starved(Faults::config()));
  warm(client);
  Lock lock = client.lock("orders");
  fail_each([&] { take_and_release(lock, {.wait = 2s, .acks = Acks::replicas(1)}); },
            [&] {
              ASSERT_TRUE(eventually([&] { return !raw.exists("orders"); }, 10s));
              ASSERT_NO_THROW(static_cast<void>(lock.acquire({.wait = 10s, .acks = Acks::replicas(1)}).release()));
            });
}

// --- clients that must find their server ---

class StarvationOfClusters : public ClusterTest, protected StarvingLocks {};

TEST_F(StarvationOfClusters, OfAClientThatBeginsAndEnds) { begin_and_end_each(starved(config())); }

TEST_F(StarvationOfClusters, OnAcquireAndRelease) {
  Client client(starved(config()));
  Lock lock = client.lock("orders");
  warm_up(lock);
  fail_each([&] { take_and_release(lock); },
            [&] { ASSERT_NO_THROW(static_cast<void>(lock.acquire({.wait = 10s}).release())); });
}

/// The client hears of it by MOVED, asks for the map, and looks through its holds.
TEST_F(StarvationOfClusters, OfASlotThatMoves) {
  Client client(starved(config()));
  const std::string name = cluster.name_on(cluster.node(0));
  Lock lock = client.lock(name);
  warm_up(lock);
  const int slot = cluster.slot_of(name);
  int times = 0;
  fail_each(
      [&] {
        Hold hold = spared([&] { return lock.acquire({.wait = 10s}); });
        RedisServer& to = cluster.node(++times % 2);
        cluster.begin_move(slot, to);
        cluster.move_keys(slot, to);
        cluster.end_move(slot, to);
        try_to([&] { release(hold); });
        try_to([&] { const Hold second = lock.acquire({.wait = 2s}); });
      },
      [&] { ASSERT_NO_THROW(static_cast<void>(lock.acquire({.wait = 10s}).release())); }, 5);
}

class StarvationOfSentinels : public SentinelTest, protected StarvingLocks {};

TEST_F(StarvationOfSentinels, OfAClientThatBeginsAndEnds) { begin_and_end_each(starved(config())); }

/// The Sentinels are asked anew.
TEST_F(StarvationOfSentinels, OfAConnectionThatBreaks) {
  Client client(starved(config()));
  Lock lock = client.lock("orders");
  warm_up(lock);
  Raw raw(deployment.server(0));
  fail_each(
      [&] {
        raw.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        take_and_release(lock);
      },
      [&] { ASSERT_NO_THROW(static_cast<void>(lock.acquire({.wait = 10s}).release())); }, 5);
}

}  // namespace
}  // namespace holdfast::test::starvation_of_groups_test
