// SPDX-License-Identifier: Apache-2.0
// From Sentinels to a primary: whom is asked, what it costs if they are dead, silent or wrong, and what is said then.
#include "sentinel.hpp"

#include "support/server_program.hpp"

namespace holdfast::test::sentinel_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;
using testing::StartsWith;

class Sentinels : public SentinelTest {
 protected:
  explicit Sentinels(DeploymentOptions options = {.replicas = 1}) : SentinelTest(std::move(options)) {}

  /// A Sentinel of its own, which says that the primary of our name is there.
  std::unique_ptr<RedisServer> liar(const RedisServer& server) const {
    return std::make_unique<RedisServer>(ServerOptions{
        .listen = ServerOptions::Listen::tcp,
        .sentinel = true,
        .config = {"sentinel monitor " + deployment.name() + " 127.0.0.1 " + std::to_string(server.port()) + " 9"}});
  }
  /// Ends the connection to the primary, and waits until this many ends were told.
  void cut(std::size_t ends) {
    Raw(deployment.primary()).command("CLIENT", "KILL", "TYPE", "normal");
    EXPECT_TRUE(log->wait_for("down", ends));
  }
  std::string at(std::initializer_list<const RedisServer*> sentinels) const {
    std::string addresses;
    for (const RedisServer* each : sentinels) addresses += (addresses.empty() ? "" : ",") + address(*each);
    return deployment.url_at(addresses);
  }
};

TEST_F(Sentinels, NameThePrimaryAndEventsSayWhichServerItIs) {
  Client client(config());
  client.ping();
  EXPECT_EQ(client.node(), config().node());
  EXPECT_THAT(client.node(), AllOf(HasSubstr(address(deployment.sentinel(2))), HasSubstr("/main")));
  ASSERT_TRUE(log->wait_for("up"));
  EXPECT_EQ(log->entries().front(), (EventLog::Entry{"up", address(deployment.primary()), ""}));
  const bool redirects = server_version().starts_with("Valkey");
  EXPECT_EQ(Raw(deployment.primary()).calls("client|capa"), redirects ? 1 : 0) << "and most servers refuse that";
  EXPECT_GT(Raw(deployment.primary()).calls("role"), 0);
}

TEST_F(Sentinels, ThatAreDeadCostNothing) {
  deployment.sentinel(0).kill();
  Client client(config());
  client.ping();
  EXPECT_EQ(log->count("down"), 0U);
}

TEST_F(Sentinels, ThatAreSilentCostLittleAndAreAskedLastFromThenOn) {
  deployment.sentinel(0).freeze();
  Config settings = config();
  settings.timing.connect_timeout = 20s;
  Client client(settings);
  EXPECT_LT(duration_of([&] { client.ping(); }), 5s);
  EXPECT_EQ(log->count("down"), 0U);
  // What it cost is in its tests as a machine; here it is not paid twice.
  deployment.sentinel(1).kill();
  cut(1);
  client.ping();
}

TEST_F(Sentinels, ThatDoNotKnowTheNameAreNamedWithWhatTheySay) {
  RedisServer other({.listen = ServerOptions::Listen::tcp, .sentinel = true});
  const PortLease nobody;
  Client client(config(deployment.url_at(address(other) + ",127.0.0.1:" + std::to_string(nobody.port()))));
  EXPECT_THAT(error_of([&] { client.ping(); }),
              IsError(Errc::unreachable, "", client.node(),
                      AllOf(HasSubstr("no Sentinel knows the primary: "),
                            HasSubstr(address(other) + ": it knows no primary of this name"),
                            HasSubstr("127.0.0.1:" + std::to_string(nobody.port()) + ": Connection refused"))));
  Client luckier(config(at({&other, &deployment.sentinel(0)})));
  luckier.ping();
}

TEST_F(Sentinels, ThatLieAreFoundOutByRoleAndAskedLast) {
  const auto wrong = liar(*deployment.replicas().front());
  Client client(config(at({wrong.get(), &deployment.sentinel(0)})));
  client.ping();
  EXPECT_TRUE(log->wait_for("up"));  // events are told by a thread of their own
  EXPECT_THAT(log->details("down"), Contains(HasSubstr("the server is no primary, but calls itself slave")));
}

TEST_F(Sentinels, ThatAreAheadOfAFailoverAreAskedUntilItIsDone) {
  const RedisServer primary({.listen = ServerOptions::Listen::tcp});  // of which no other Sentinel tells
  const RedisServer successor({.listen = ServerOptions::Listen::tcp, .replica_of = &primary});
  const auto early = liar(successor);
  Client client(config(at({early.get()})));
  auto pinged = in_thread([&] { client.ping(); });
  ASSERT_TRUE(log->wait_for("down", 2));
  EXPECT_FALSE(ready(pinged, 0ms));
  EXPECT_EQ(Raw(successor).command("REPLICAOF", "NO", "ONE").text, "OK");
  pinged.get();
  ASSERT_TRUE(log->wait_for("up"));
  EXPECT_EQ(log->entries().back(), (EventLog::Entry{"up", address(successor), ""}));
}

TEST_F(Sentinels, AreNotNeededWhileTheConnectionStandsAndNamedWhenTheyAre) {
  Client client(config());
  client.ping();
  for (std::size_t i = 0; i < 3; ++i) deployment.sentinel(i).kill();
  client.ping();
  EXPECT_EQ(log->count("down"), 0U);
  cut(2);
  EXPECT_THAT(log->details("down").back(),
              AllOf(StartsWith("no Sentinel knows the primary"), HasSubstr(address(deployment.sentinel(0))),
                    HasSubstr(address(deployment.sentinel(1))), HasSubstr(address(deployment.sentinel(2)))));
  deployment.sentinel(1).restart(Data::lose);
  client.ping();
}

TEST_F(Sentinels, ThatOthersTellOfAreAskedToo) {
  Client client(config(at({&deployment.sentinel(0)})));
  client.ping();
  ASSERT_TRUE(watched_by(3)) << "the two others were never named";
  deployment.sentinel(0).kill();
  cut(1);
  client.ping();
}

TEST_F(Sentinels, WhoseConnectionsAreCutAreConnectedToAgain) {
  Client client(config());
  client.ping();
  ASSERT_TRUE(watched_by(3));
  for (std::size_t i = 0; i < 3; ++i) Raw(deployment.sentinel(i)).command("CLIENT", "KILL", "TYPE", "pubsub");
  ASSERT_TRUE(watched_by(3));
  EXPECT_EQ(log->count("down"), 0U);
}

TEST_F(Sentinels, ThatAreSilentDoNotHoldUpTheClosing) {
  for (std::size_t i = 0; i < 3; ++i) deployment.sentinel(i).freeze();
  Config settings = config();
  settings.timing.connect_timeout = 60s;
  Client client(settings);
  auto pinged = in_thread([&] { return error_of([&] { client.ping(); }); });
  EXPECT_FALSE(ready(pinged, 600ms));
  EXPECT_LT(duration_of([&] { client.close(); }), 10s);
  EXPECT_EQ(pinged.get()->code(), code(Errc::closed));
}

TEST_F(Sentinels, ThatAreSilentAreNamed) {
  for (std::size_t i = 0; i < 3; ++i) deployment.sentinel(i).freeze();
  Config settings = config();
  settings.timing.connect_timeout = 500ms;
  Client client(settings);
  EXPECT_THAT(error_of([&] { client.ping(); }),
              IsError(Errc::unreachable, "", client.node(),
                      AllOf(HasSubstr("no answer from Sentinel " + address(deployment.sentinel(0))),
                            HasSubstr(address(deployment.sentinel(2))), HasSubstr("within 500 ms"))));
}

class SentinelsOfTwoReplicas : public Sentinels {
 protected:
  SentinelsOfTwoReplicas() : Sentinels({.replicas = 2}) {}
};

/// One that is away may be elected when it is back.
TEST_F(SentinelsOfTwoReplicas, KnowOfThoseThatAreAwayHowManyAcksAreAll) {
  deployment.replicas().front()->kill();
  Raw primary(deployment.primary());
  ASSERT_TRUE(eventually([&] { return primary.info("replication", "connected_slaves") == "1"; }));
  ASSERT_TRUE(eventually([&] { return primary.replicated(1); })) << "the other has never confirmed anything";
  Config settings = config();
  settings.timing.acks_timeout = 300ms;
  Client client(settings);
  EXPECT_THAT(
      error_of([&] { return client.lock("orders").try_acquire({.acks = Acks::all()}); }),
      IsError(Errc::durability_not_met, "orders", client.node(), HasSubstr("1 of 2 replicas have confirmed it")));
  EXPECT_TRUE(client.lock("orders").acquire({.acks = Acks::majority()}).durable_for() > 0ms);
}

class SentinelsWithPasswords : public Sentinels {
 protected:
  SentinelsWithPasswords() : Sentinels(options()) {}

  static DeploymentOptions options() {
    DeploymentOptions made{.replicas = 1, .password = "of-servers"};
    if (!server_like_redis(6, 2)) return made;
    made.sentinel_password = "of-sentinels";
    made.sentinel_users = {"watcher on >w0rd &* -@all +hello +auth +ping +sentinel +subscribe +role"};
    return made;
  }
};

TEST_F(SentinelsWithPasswords, HaveALoginOfTheirOwn) {
  if (!server_like_redis(6, 2)) GTEST_SKIP() << "Redis 6.0's Sentinels have no passwords among themselves";
  Client client(config());
  client.ping();
  Config settings = config();
  auto& sentinels = std::get<SentinelConfig>(settings.server);
  sentinels.username = "watcher";
  sentinels.password = "w0rd";
  Client watcher(settings);
  watcher.ping();
  sentinels.password = "wrong";
  Client stranger(settings);
  EXPECT_THAT(error_of([&] { stranger.ping(); }),
              IsError(Errc::unreachable, "", stranger.node(),
                      AllOf(HasSubstr(address(deployment.sentinel(2)) + ": WRONGPASS"), Not(HasSubstr("wrong ")))));
}

class SentinelsWithTls : public Sentinels {
 protected:
  SentinelsWithTls() : Sentinels({.replicas = 1, .tls = true}) {}
};

TEST_F(SentinelsWithTls, AreSpokenToOverTls) {
  Client client(config());
  client.ping();
  deployment.failover();
  EXPECT_TRUE(log->wait_for("up", 2));
  client.ping();
}

/// What Sentinels announce is mapped too, as they are themselves: here to proxies.
TEST_F(SentinelTest, AnnouncedAddressesAreMapped) {
  std::map<std::uint16_t, std::unique_ptr<Proxy>> proxies;
  for (std::size_t i = 0; i < deployment.servers(); ++i) {
    proxies.emplace(deployment.server(i).port(), std::make_unique<Proxy>(deployment.server(i)));
  }
  for (std::size_t i = 0; i < deployment.sentinels(); ++i) {
    proxies.emplace(deployment.sentinel(i).port(), std::make_unique<Proxy>(deployment.sentinel(i)));
  }
  std::map<std::uint16_t, std::uint16_t> ports;
  for (const auto& [port, proxy] : proxies) ports.emplace(port, proxy->port());
  Config settings = config();
  settings.map_address = [ports](const NodeAddress& announced) {
    return NodeAddress{announced.host, ports.at(announced.port)};
  };
  RedisServer& first = deployment.primary();
  Client client(settings);
  Hold hold = client.lock("orders").acquire({.acks = Acks::all()});
  EXPECT_GT(proxies.at(first.port())->accepted(), 0U);
  std::size_t questions = 0;
  for (std::size_t i = 0; i < deployment.sentinels(); ++i) {
    questions += proxies.at(deployment.sentinel(i).port())->accepted();
  }
  EXPECT_GT(questions, 0U);
  deployment.failover();
  const Proxy& next = *proxies.at(deployment.primary().port());
  EXPECT_TRUE(eventually([&] { return next.accepted() > 0; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::sentinel_test
