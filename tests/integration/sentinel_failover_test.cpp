// SPDX-License-Identifier: Apache-2.0
// Failovers under a client that asks Sentinels: who hears of it when, and what becomes of holds and waiters.
#include <ranges>

#include "sentinel.hpp"

namespace holdfast::test::sentinel_failover_test {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::Eq;
using testing::HasSubstr;

/// Whoever follows the primary has what it has.
void replicate(const RedisServer& primary, std::size_t replicas) {
  Raw raw(primary);
  EXPECT_TRUE(eventually([&] { return raw.replicated(replicas); }));
}

class SentinelFailover : public SentinelTest {
 protected:
  explicit SentinelFailover(DeploymentOptions options = {}) : SentinelTest(std::move(options)) {}

  void replicate() { sentinel_failover_test::replicate(deployment.primary(), deployment.replicas().size()); }
  bool connected_to(const RedisServer& server) {
    return eventually([&] {
      for (const auto& entry : std::views::reverse(log->entries())) {
        if (entry.kind == "up" || entry.kind == "down") return entry.kind == "up" && entry.name == address(server);
      }
      return false;
    });
  }
};

TEST_F(SentinelFailover, WhenForcedTakesHoldsAndWaitersAlong) {
  Client client(config());
  Config of_other = config();
  of_other.observer = nullptr;
  Client other(of_other);
  Hold hold = client.lock("orders").acquire();
  auto waiter = in_thread([&] { return other.lock("orders").acquire(); });
  Raw before(deployment.primary());
  ASSERT_TRUE(listeners(before, "orders"));
  replicate();
  for (int i = 0; i < 2; ++i) {
    deployment.failover();
    ASSERT_TRUE(connected_to(deployment.primary())) << testing::PrintToString(log->entries());
    deployment.wait_until_settled();
  }
  Raw now(deployment.primary());
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::held; }));
  EXPECT_EQ(log->count("lost"), 0U);
  EXPECT_THAT(now.hgetall("orders"), HeldBy(hold.owner()));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_THAT(now.hgetall("orders"), HeldBy(waiter.get().owner()));
}

TEST_F(SentinelFailover, WhenThePrimaryIsKilledLeavesNoWaiterBehind) {
  Client client(config());
  Hold hold = client.lock("orders").acquire();
  replicate();
  RedisServer& old_primary = deployment.primary();
  old_primary.kill();
  auto other = in_thread([&] { return client.lock("others").acquire(); });
  EXPECT_TRUE(other.get().state() == HoldState::held) << "granted by the new primary, which it has waited for";
  deployment.wait_for_failover_from(old_primary);  // all Sentinels have heard of it
  // Replicated, so it is found again if its lease has lasted for that long; else its holder was told.
  EXPECT_TRUE(eventually([&] { return hold.state() != HoldState::suspect; }));
  if (hold.state() == HoldState::held) {
    EXPECT_THAT(Raw(deployment.primary()).hgetall("orders"), HeldBy(hold.owner()));
  } else {
    EXPECT_TRUE(log->wait_for("lost"));
  }
}

TEST_F(SentinelFailover, OfAFrozenPrimaryIsHeardOfByAnnouncement) {
  Client client(config());
  client.ping();
  ASSERT_TRUE(watched_by(3));
  RedisServer& old_primary = deployment.primary();
  old_primary.freeze();
  deployment.wait_for_failover_from(old_primary);
  ASSERT_TRUE(connected_to(deployment.primary()));
  old_primary.thaw();
  deployment.wait_until_settled();
  client.ping();
  EXPECT_EQ(Raw(old_primary).info("replication", "role"), "slave");
  EXPECT_TRUE(log->wait_for("up", 2));
}

/// Nobody hears the announcement, and the demoted server is not told to cut its clients: the other end of a partition.
TEST_F(SentinelFailover, ThatNobodyHasHeardOfIsFoundByLooking) {
  Client client(config());
  client.ping();
  ASSERT_TRUE(watched_by(3));
  // As if its Sentinels had lost their way to it: it goes on as a primary.
  RedisServer& old_primary = deployment.primary();
  RedisServer successor({.listen = ServerOptions::Listen::tcp});
  for (std::size_t i = 0; i < 3; ++i) {
    Raw sentinel(deployment.sentinel(i));
    sentinel.command("SENTINEL", "REMOVE", deployment.name());
    sentinel.command("SENTINEL", "MONITOR", deployment.name(), "127.0.0.1", successor.port(), 2);
  }
  ASSERT_TRUE(connected_to(successor));
  EXPECT_THAT(log->details("down"), Contains(HasSubstr("the Sentinels say that the primary is " + address(successor))));
  EXPECT_EQ(Raw(old_primary).info("replication", "role"), "master");
}

/// As one that is alone in its part of the network.
TEST_F(SentinelFailover, ThatOneSentinelAloneTellsOfIsNone) {
  const RedisServer successor({.listen = ServerOptions::Listen::tcp});
  const RedisServer alone(
      {.listen = ServerOptions::Listen::tcp,
       .sentinel = true,
       .config = {"sentinel monitor " + deployment.name() + " 127.0.0.1 " + std::to_string(successor.port()) + " 1"}});
  Client client(config(deployment.url_at(address(deployment.sentinel(0)) + "," + address(alone))));
  client.ping();
  const auto asked = [&] {
    const std::string clients = Raw(alone).command("CLIENT", "LIST").text;
    const std::size_t ours = clients.find(" name=holdfast");
    return ours != clients.npos && clients.find(" cmd=sentinel", ours) < clients.find('\n', ours);
  };
  ASSERT_TRUE(eventually(asked)) << "it was not looked at";
  EXPECT_FALSE(log->wait_for("down", 1, 2000ms));
}

TEST_F(SentinelFailover, OfAnotherPrimaryDisturbsNobody) {
  Client client(config());
  client.ping();
  ASSERT_TRUE(watched_by(3));
  RedisServer primary({.listen = ServerOptions::Listen::tcp});
  RedisServer replica({.listen = ServerOptions::Listen::tcp, .replica_of = &primary});
  Raw sentinel(deployment.sentinel(0));
  EXPECT_EQ(sentinel.command("SENTINEL", "MONITOR", "other", "127.0.0.1", primary.port(), 1).text, "OK");
  ASSERT_TRUE(eventually([&] { return sentinel.command("SENTINEL", "FAILOVER", "other").text == "OK"; }));
  ASSERT_TRUE(eventually([&] {
    const Reply reply = sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "other");
    return reply.elements.size() == 2 && reply.elements[1].text == std::to_string(replica.port());
  }));
  client.ping();
  EXPECT_EQ(log->count("down"), 0U);
}

TEST_F(SentinelFailover, WhileTheFirstConnectionIsMadeIsWaitedFor) {
  RedisServer& old_primary = deployment.primary();
  old_primary.kill();
  Client client(config());
  Hold hold = client.lock("orders").acquire();
  deployment.wait_for_failover_from(old_primary);
  EXPECT_THAT(Raw(deployment.primary()).hgetall("orders"), HeldBy(hold.owner()));
}

// --- several addresses of plain servers ---

class SeveralAddresses : public testing::Test {
 protected:
  Config config(const std::string& addresses) const {
    Config made = quick_config("redis://" + addresses);
    made.observer = log;
    return made;
  }
  static std::string address(const RedisServer& server) { return Deployment::address(server); }

  RedisServer primary{{.listen = ServerOptions::Listen::tcp}};
  RedisServer replica{{.listen = ServerOptions::Listen::tcp, .replica_of = &primary}};
  const PortLease nobody;
  const std::string dead = "127.0.0.1:" + std::to_string(nobody.port());
  const std::shared_ptr<EventLog> log = std::make_shared<EventLog>();
};

TEST_F(SeveralAddresses, AreTriedUntilOneIsAPrimary) {
  Client client(config(dead + "," + address(replica) + "," + address(primary)));
  client.ping();
  ASSERT_TRUE(log->wait_for("up"));  // events are told by a thread of their own
  EXPECT_EQ(log->entries().back(), (EventLog::Entry{"up", address(primary), ""}));
  // The one that worked stays the first.
  Raw(primary).command("CLIENT", "KILL", "TYPE", "normal");
  ASSERT_TRUE(log->wait_for("up", 2));
  EXPECT_EQ(log->count("down"), 3U);
}

TEST_F(SeveralAddresses, AreAllNamedIfNoneIsAPrimary) {
  Client client(config(dead + "," + address(replica)));
  EXPECT_THAT(error_of([&] { client.ping(); }),
              testing::Optional(testing::Property(
                  &Error::cause, testing::AllOf(HasSubstr(dead + ": Connection refused"),
                                                HasSubstr(address(replica) + ": the server is no primary")))));
}

TEST_F(SeveralAddresses, OfWhichOneIsSilentCostAShareOfTheTime) {
  RedisServer frozen({.listen = ServerOptions::Listen::tcp});
  frozen.freeze();
  Config settings = config(address(frozen) + "," + address(primary));
  settings.timing.connect_timeout = 1000ms;
  Client client(settings);
  client.ping();
  ASSERT_TRUE(log->wait_for("up"));
  EXPECT_THAT(log->details("down"), Contains(HasSubstr("within 500 ms")));
}

TEST_F(SeveralAddresses, AreChangedWhenThePrimaryIsDemoted) {
  Client client(config(address(primary) + "," + address(replica)));
  Hold hold = client.lock("orders").acquire();
  replicate(primary, 1);
  Raw(replica).command("REPLICAOF", "NO", "ONE");
  Raw(primary).command("REPLICAOF", "127.0.0.1", replica.port());
  Hold second = client.lock("second").acquire();
  EXPECT_THAT(Raw(replica).hgetall("second"), HeldBy(second.owner()));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

/// The old primary goes on for a moment after its successor was chosen.
TEST_F(SeveralAddresses, AreToldOfReleasesThatOnlyTheOldPrimaryHasSeen) {
  Config settings = config(address(primary) + "," + address(replica));
  settings.lease = 120s;
  Client client(settings);
  Hold hold = client.lock("orders").acquire();
  replicate(primary, 1);
  Raw successor(replica);
  successor.command("REPLICAOF", "NO", "ONE");
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(successor.command("EXISTS", "orders").integer, 1) << "nobody has it there";
  const auto demoted = steady_clock::now();
  Raw(primary).command("REPLICAOF", "127.0.0.1", replica.port());
  Hold second = client.lock("second").acquire();
  EXPECT_TRUE(eventually([&] { return successor.command("EXISTS", "orders").integer == 0; }));
  EXPECT_GE(steady_clock::now() - demoted, 1s) << "by then others have left the old primary, too";
}

}  // namespace
}  // namespace holdfast::test::sentinel_failover_test
