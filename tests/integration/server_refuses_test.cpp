// SPDX-License-Identifier: Apache-2.0
// Servers that answer, but not what is needed: replicas, full memory, missing commands, and states that pass.
#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::server_refuses_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ServerRefuses : public testing::Test {
 protected:
  Config config(const RedisServer& server) const {
    Config config = quick_config(server.url());
    config.observer = log;
    return config;
  }

  const std::shared_ptr<EventLog> log = std::make_shared<EventLog>();
};

// --- Replicas ---

TEST_F(ServerRefuses, AReplicaIsReadOnly) {
  RedisServer primary({.listen = ServerOptions::Listen::tcp});
  RedisServer replica({.replica_of = &primary});
  Client client(config(replica));
  Lock lock = client.lock("orders");
  const auto said = IsError(Errc::read_only, "orders", client.node(), HasSubstr("READONLY"));
  EXPECT_THAT(error_of([&] { return lock.acquire(); }), said);
  EXPECT_THAT(error_of([&] { return lock.try_acquire({.wait = 1min}); }), said);
  EXPECT_THAT(error_of([&] { return lock.try_lock(); }), said);
  EXPECT_FALSE(lock.is_locked());

  Client at_primary(config(primary));
  const Hold hold = at_primary.lock("orders").acquire();
  Raw raw(replica);
  ASSERT_TRUE(eventually([&] { return raw.exists("orders"); }));
  EXPECT_TRUE(lock.is_locked());
  EXPECT_EQ(lock.info().owner, hold.owner());
  EXPECT_THAT(error_of([&] { return lock.force_release(); }), said);
}

TEST_F(ServerRefuses, AHoldOutlivesAPrimaryThatIsAReplicaForAMoment) {
  RedisServer server;
  Raw raw(server);
  Client client(config(server));
  Hold hold = client.lock("orders").acquire({.lease = renewed(2s)});
  raw.command("REPLICAOF", "127.0.0.1", 1);
  EXPECT_TRUE(log->wait_for("suspect"));
  EXPECT_THAT(log->details("suspect"), ElementsAre(HasSubstr("READONLY")));
  raw.command("REPLICAOF", "NO", "ONE");
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::held; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(ServerRefuses, AnAcquireWaitsForAPrimaryThatIsAReplicaForAMoment) {
  RedisServer server;
  Raw raw(server);
  Client client(config(server));
  ASSERT_EQ(client.lock("orders").acquire().release(), ReleaseOutcome::released);
  raw.command("REPLICAOF", "127.0.0.1", 1);
  auto acquire = in_thread([&] { return client.lock("orders").acquire(); });
  EXPECT_FALSE(ready(acquire, 100ms));
  raw.command("REPLICAOF", "NO", "ONE");
  ASSERT_TRUE(ready(acquire));
  EXPECT_EQ(acquire.get().release(), ReleaseOutcome::released);
}

TEST_F(ServerRefuses, AReleaseWaitsForAPrimaryThatIsAReplicaForAMoment) {
  RedisServer server;
  Raw raw(server);
  Config settings = config(server);
  settings.timing.release_timeout = 10s;
  Client client(settings);
  Hold hold = client.lock("orders").acquire({.lease = renewed(1min)});
  raw.command("REPLICAOF", "127.0.0.1", 1);
  auto release = in_thread([&] { return hold.release(); });
  EXPECT_FALSE(ready(release, 50ms));
  raw.command("REPLICAOF", "NO", "ONE");
  EXPECT_EQ(release.get(), ReleaseOutcome::released);
  EXPECT_FALSE(raw.exists("orders"));
}

// --- Memory ---

TEST_F(ServerRefuses, FullMemoryRefusesNewLocksAndKeepsOldOnes) {
  RedisServer server({.config = {"maxmemory-policy noeviction"}});
  Raw raw(server);
  Client client(config(server));
  Client second(config(server));
  Hold hold = client.lock("orders").acquire({.lease = renewed(600ms)});
  raw.command("SET", "filler", std::string(3'000'000, 'x'));
  raw.command("CONFIG", "SET", "maxmemory", "1mb");
  ASSERT_TRUE(raw.command("SET", "more", "x").text.starts_with("OOM"));
  Lock other = client.lock("other");
  const auto said = IsError(Errc::out_of_memory, "other", client.node(), HasSubstr("OOM"));
  EXPECT_THAT(error_of([&] { return other.acquire(); }), said);
  EXPECT_THAT(error_of([&] { return other.acquire({.wait = 1min}); }), said);
  EXPECT_THAT(error_of([&] { return other.try_acquire(); }), said);
  EXPECT_THAT(error_of([&] { return other.try_lock(); }), said);
  EXPECT_FALSE(raw.exists("other"));

  auto waiting = in_thread([&] { return error_of([&] { return second.lock("orders").acquire(); }); });
  EXPECT_TRUE(listeners(raw, "orders"));
  const std::uint64_t renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 4; }));
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_THAT(waiting.get(), IsError(Errc::out_of_memory, "orders", client.node(), HasSubstr("OOM")));
  raw.command("CONFIG", "SET", "maxmemory", 0);
  EXPECT_TRUE(other.acquire());
}

// --- Missing commands ---

TEST_F(ServerRefuses, AServerWithoutScriptsIsNotSupported) {
  using Renamed = std::vector<std::pair<std::string, std::string>>;
  for (const Renamed& renamed : {Renamed{{"EVAL", ""}, {"EVALSHA", ""}}, Renamed{{"EVALSHA", ""}},
                                 Renamed{{"EVAL", "HIDDEN1"}, {"EVALSHA", "HIDDEN2"}}}) {
    RedisServer server({.renamed_commands = renamed});
    Client client(config(server));
    Lock lock = client.lock("orders");
    const auto said = IsError(Errc::unsupported_by_server, "orders", client.node(), HasSubstr("EVAL"));
    EXPECT_THAT(error_of([&] { return lock.acquire(); }), said);
    EXPECT_THAT(error_of([&] { return lock.try_acquire({.wait = 1min}); }), said);
    EXPECT_THAT(error_of([&] { return lock.force_release(); }), said);
    EXPECT_THAT(error_of([&] { return lock.is_locked(); }), said);
    EXPECT_FALSE(lock.is_held_by("somebody")) << "a plain command";
  }
}

TEST_F(ServerRefuses, AServerWithoutEvalKnowsTheScriptsBeforeTheyAreUsed) {
  RedisServer server({.renamed_commands = {{"EVAL", ""}}});
  Client client(config(server));
  EXPECT_EQ(client.lock("orders").acquire().release(), ReleaseOutcome::released);
}

TEST_F(ServerRefuses, WithoutSubscribeAWaiterIsToldAndAFreeLockWorks) {
  RedisServer server({.renamed_commands = {{"SUBSCRIBE", ""}}});
  Raw raw(server);
  Client client(config(server));
  EXPECT_TRUE(client.lock("free").acquire());
  put_held_lock(raw, "orders");
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire({.wait = 1min}); }),
              testing::Optional(AllOf(testing::Property(&Error::key, "orders"),
                                      testing::Property(&Error::cause, HasSubstr("unknown command")))));
}

TEST_F(ServerRefuses, ADatabaseThatIsNotThereIsNamed) {
  RedisServer server;
  Config settings = config(server);
  settings.database = 99;
  Client client(settings);
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::invalid_argument, "orders", client.node(), HasSubstr("DB index")));
}

// --- States that pass ---

TEST_F(ServerRefuses, AServerThatIsBusyWithSomebodysScriptIsBorne) {
  RedisServer server({.config = {"lua-time-limit 20"}});
  Raw raw(server);
  Client client(config(server));
  Hold hold = client.lock("orders").acquire({.lease = renewed(6s)});
  auto script = in_thread([&] { return Raw(server).command("EVAL", "while true do end", 0); });
  ASSERT_TRUE(eventually([&] { return raw.command("PING").text.starts_with("BUSY"); }));
  auto acquire = in_thread([&] { return client.lock("other").acquire(); });
  auto release = in_thread([&] { return client.lock("third").try_acquire(); });
  EXPECT_FALSE(ready(acquire, 200ms));
  raw.command("SCRIPT", "KILL");
  EXPECT_TRUE(script.get().is_error());
  ASSERT_TRUE(ready(acquire));
  EXPECT_TRUE(release.get());
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(ServerRefuses, AServerThatIsLoadingItsDataIsBorne) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 Redis is silent while it loads so few keys";
  RedisServer server({.config = SlowLoad::config()});
  Client client(config(server));
  Hold hold = client.lock("orders").acquire({.lease = renewed(10s)});
  SlowLoad load(server);
  ASSERT_TRUE(load.began());
  auto acquire = in_thread([&] { return client.lock("other").acquire(); });
  EXPECT_FALSE(ready(acquire, 100ms));
  EXPECT_TRUE(load.end());
  ASSERT_TRUE(ready(acquire));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(client.counters().lost, 0U);
}

TEST_F(ServerRefuses, APassingRefusalIsBorneForPatienceAndThenTold) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 Redis lets scripts write without replicas";
  RedisServer server;
  Raw raw(server);
  Config settings = config(server);
  settings.timing.patience = 300ms;
  settings.timing.command_timeout = 300ms;
  Client client(settings);
  raw.command("CONFIG", "SET", "min-replicas-to-write", 1);
  Lock lock = client.lock("orders");
  for (const AcquireOptions& options : {AcquireOptions{}, AcquireOptions{.wait = 1min}}) {
    const Timed acquire = timed_error_of([&] { return lock.acquire(options); });
    EXPECT_THAT(acquire.error, IsError(Errc::server_error, "orders", client.node(), HasSubstr("NOREPLICAS")));
    EXPECT_THAT(acquire.took, AllOf(testing::Ge(300ms), testing::Lt(5s)));
  }
  settings.timing.patience = 1min;
  Client patient(settings);
  auto acquire = in_thread([&] { return patient.lock("orders").acquire(); });
  EXPECT_FALSE(ready(acquire, 300ms));
  raw.command("CONFIG", "SET", "min-replicas-to-write", 0);
  EXPECT_TRUE(ready(acquire));
}

TEST_F(ServerRefuses, AServerWithoutRoomForAnotherConnectionSaysSo) {
  RedisServer server({.config = {"maxclients 1"}});
  std::optional<Raw> raw;  // the only one, once the connection of the start has ended
  ASSERT_TRUE(eventually([&] {
    raw.emplace(server);
    return raw->command("PING").text == "PONG";
  }));
  Config settings = config(server);
  settings.timing.patience = 300ms;
  Client client(settings);
  // The server says so and closes, mostly before it has seen the login, which then cannot be sent.
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(error_of([&] { return client.lock("orders").acquire({.wait = 100ms}); }),
                IsError(Errc::server_error, "orders", client.node(), HasSubstr("max number of clients")));
  }
}

}  // namespace
}  // namespace holdfast::test::server_refuses_test
