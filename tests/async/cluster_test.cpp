// SPDX-License-Identifier: Apache-2.0
// A client of a cluster on the caller's io_context.
#include "support/cluster.hpp"

#include <boost/asio/detached.hpp>

#include "async.hpp"
#include "support/made_up_node.hpp"

namespace holdfast::test::cluster_test {
namespace {

/// Its locks are in the cluster; the server of the suite is not used.
class GuestOfCluster : public Async {
 protected:
  Config settings(const std::string& url) {
    Config made = quick_config(url);
    made.lease = 30s;  // longer than a failover takes
    made.timing.command_timeout = 20s;
    made.timing.patience = 60s;
    made.observer = log;
    return made;
  }

  Cluster cluster;
};

TEST_F(GuestOfCluster, FollowsItAndLeavesNothingBehind) {
  Client client = client_on(context, settings(cluster.url()));
  const std::vector<std::string> all = cluster.names_on_each();
  std::vector<Hold> holds;
  run([&]() -> awaitable<void> {
    for (const std::string& name : all) {
      holds.push_back(co_await client.lock(name).async_acquire({.acks = Acks::all()}));
    }
  }());
  // The context is not run meanwhile.
  cluster.failover(cluster.primary_of(all.front()));
  const int slot = cluster.slot_of(all.back());
  cluster.move_slots(slot, slot, cluster.primary_of(all.front()));
  run([&]() -> awaitable<void> {
    for (Hold& hold : holds) EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::released);
    for (const std::string& name : all) {
      Hold again = co_await client.lock(name).async_acquire();
      EXPECT_TRUE(Raw(cluster.primary_of(name)).exists(name));
      EXPECT_EQ(co_await again.async_release(), ReleaseOutcome::released);
    }
  }());
  close(client);
}

/// Everything that can be under way: held, waited for, on its way to nodes that are silent, renewed, watched, and a map
/// that is asked for. The leak check of the address sanitizer is the judge of what is left; no handler may run.
TEST_F(GuestOfCluster, MayLoseItsContextWithEverythingUnderWay) {
  const std::vector<std::string> all = cluster.names_on_each();
  for (const int turns : {0, 1, 2, 5, 20, 100}) {
    auto own = std::make_unique<asio::io_context>();
    std::optional<Client> client = client_on(*own, settings(cluster.url()));
    int handlers = 0;
    const auto count = [&](auto&&...) { ++handlers; };
    for (const std::string& name : all) {
      asio::co_spawn(
          *own,
          [&, name]() -> awaitable<void> {
            Hold hold = co_await client->lock(name).async_acquire({.acks = Acks::all()});
            co_await hold.async_wait_lost(use_awaitable);
            count();
          },
          count);
      client->lock(name).async_acquire(count);
      client->lock(name).async_is_locked(count);
    }
    own->poll();
    for (int i = 0; i < turns; ++i) own->run_one_for(2ms);
    if (turns == 20) cluster.node(0).freeze();
    if (turns == 100) {
      const int slot = cluster.slot_of(all.front());
      cluster.begin_move(slot, cluster.primary_of(all.back()));
      own->run_for(50ms);
      client->async_close(count);
    }
    const int before = handlers;
    client.reset();
    own.reset();
    EXPECT_EQ(handlers, before);
    if (turns == 20) cluster.node(0).thaw();
    for (RedisServer* each : cluster.primaries()) Raw(*each).flushall();
  }
}

TEST_F(GuestOfCluster, ClosesWhileItsMapIsAskedFor) {
  MadeUpNode silent([](const auto& command) { return std::string(command.front() == "CLUSTER" ? "" : "+OK\r\n"); });
  Client client = client_on(context, settings("redis+cluster://" + silent.address()));
  Failure failure;
  bool ended = false;
  client.lock("orders").async_acquire([&](const Failure& told, const Hold&) {
    failure = told;
    ended = true;
  });
  ASSERT_TRUE(turn_until([&] { return silent.heard("CLUSTER") > 0; }));
  close(client);
  EXPECT_TRUE(ended);
  EXPECT_EQ(failure, Errc::closed);
}

}  // namespace
}  // namespace holdfast::test::cluster_test
