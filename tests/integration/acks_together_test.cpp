// SPDX-License-Identifier: Apache-2.0
// Acks where several locks, several servers, several callers or another face are involved.
#include <latch>

#include "acks.hpp"

namespace holdfast::test::acks_together_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class AcksTogether : public Replicated {
 protected:
  static void all(Config& config) {
    config.acks = Acks::all();
    config.timing.acks_timeout = 200ms;
  }
};

TEST_F(AcksTogether, SeveralLocksOfOneServerShareAnAck) {
  add_replicas(1);
  Client client(config(all));
  const Hold hold = client.multi_lock({"a", "b", "c"}).acquire();
  EXPECT_GT(hold.durable_for(), 0ms);
  EXPECT_EQ(client.counters().acks_missed, 0U);
}

TEST_F(AcksTogether, ASimpleLockHasThemToo) {
  add_replicas(1);
  Client client(config(all));
  EXPECT_GT(client.simple_lock("orders").acquire().durable_for(), 0ms);
  replicas[0].freeze();
  EXPECT_EQ(error_of([&] { return client.simple_lock("orders").acquire({.wait = 0ms}); })->code(),
            code(Errc::durability_not_met));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
}

TEST_F(AcksTogether, ARenewalByItsOwnCommandIsConfirmedOncePerThird) {
  add_replicas(1);
  Client client(config(all));
  const Hold hold = client.lock("orders").acquire({.lease = renewed(1800ms)});
  ASSERT_TRUE(log->wait_for("renewed", 5));
  EXPECT_GT(hold.durable_for(), 0ms);
  EXPECT_EQ(client.counters().suspect, 0U);
}

TEST_F(AcksTogether, WhatIsPassedOnKeepsItsAcksAndGoesOnlyToWhomTheyDo) {
  add_replicas(1);
  Client client(config([](Config& c) {
    c.acks = Acks::all();
    c.kinds.handoff = 1min;
  }));
  Hold first = client.lock("orders").acquire();
  std::latch begun(1);
  auto same = in_thread([&] {
    begun.count_down();
    return client.lock("orders").acquire();
  });
  begun.wait();
  std::this_thread::sleep_for(50ms);  // there is nothing to be seen of a local queue
  const std::string owner = first.owner();
  first.release();
  Hold second = same.get();
  EXPECT_EQ(second.owner(), owner);
  EXPECT_GT(second.durable_for(), 0ms);
  auto none = in_thread([&] { return client.lock("orders").acquire({.acks = Acks::none()}); });
  std::this_thread::sleep_for(50ms);
  second.release();
  const Hold third = none.get();
  EXPECT_NE(third.owner(), owner);
  EXPECT_EQ(third.durable_for(), 0ms);
}

/// Three primaries, the first of them with the fixture's replica, the others with one each.
class AcksOfMembers : public AcksTogether {
 protected:
  void SetUp() override {
    add_replicas(1);
    for (RedisServer* primary : {&second, &third}) {
      replicas.emplace_back(ServerOptions{.listen = ServerOptions::Listen::tcp, .replica_of = primary});
      Raw look(*primary);
      ASSERT_TRUE(eventually([&] { return look.replicated(1); }));
    }
    for (RedisServer* primary : {&server, &second, &third}) {
      Config settings = config(primary->url());
      all(settings);
      clients.emplace_back(settings);
      warm(clients.back());
    }
  }
  std::vector<Lock> members(std::size_t count) {
    std::vector<Lock> locks;
    for (std::size_t i = 0; i < count; ++i) locks.push_back(clients[i].lock("orders"));
    return locks;
  }

  RedisServer second{{.listen = ServerOptions::Listen::tcp, .config = {"repl-diskless-sync-delay 0"}}};
  RedisServer third{{.listen = ServerOptions::Listen::tcp, .config = {"repl-diskless-sync-delay 0"}}};
  std::deque<Client> clients;
};

TEST_F(AcksOfMembers, AMajorityOfServersIsEnoughEachWithItsReplicas) {
  replicas[2].freeze();
  RedLock lock(members(3));
  Hold hold = lock.acquire();
  EXPECT_GT(hold.valid_for(), 0ms);
  EXPECT_GT(hold.durable_for(), 0ms) << "by the two that granted it";
  hold.release();
  replicas[1].freeze();
  const auto error = error_of([&] { return lock.acquire({.wait = 0ms}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code(Errc::durability_not_met));
  EXPECT_THAT(error->cause(), AllOf(HasSubstr("1 of 3 servers granted it"), HasSubstr("too few replicas")));
  for (RedisServer* primary : {&server, &second, &third}) {
    Raw look(*primary);
    EXPECT_TRUE(eventually([&] { return !look.exists("orders"); })) << "given back everywhere";
  }
}

TEST_F(AcksOfMembers, ARenewalOfAMajorityNeedsTheAcksOfAMajority) {
  RedLock lock(members(3));
  const Hold hold = lock.acquire();
  replicas[1].freeze();
  replicas[2].freeze();
  ASSERT_TRUE(log->wait_for("suspect"));
  replicas[1].thaw();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::held && hold.durable_for() > 0ms; }));
}

TEST_F(AcksOfMembers, AllMembersOfAMultiLockNeedThem) {
  MultiLock both(members(2));
  {
    const Hold hold = both.acquire();
    EXPECT_GT(hold.durable_for(), 0ms);
  }
  replicas[1].freeze();
  EXPECT_EQ(error_of([&] { return both.acquire({.wait = 0ms}); })->code(), code(Errc::durability_not_met));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
}

}  // namespace
}  // namespace holdfast::test::acks_together_test
