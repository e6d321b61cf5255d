// SPDX-License-Identifier: Apache-2.0
// From a name to a server: addresses that lead nowhere, name servers that do not answer, servers that were replaced.
#include "faults.hpp"
#include "support/names.hpp"
#include "support/stranger.hpp"

namespace holdfast::test::addresses_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Ge;
using testing::HasSubstr;
using testing::Lt;

const std::string kLocal = "127.0.0.1";

class Addresses : public Faults {
 protected:
  Addresses() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  Config named(const Name& name) { return config("redis://" + name.name() + ":1"); }
  Name::Address here() const { return {kLocal, server.port()}; }
};

// --- a map ---

TEST_F(Addresses, AMapLeadsToTheServerAndIsAppliedOnce) {
  Config settings = config("redis://10.255.255.1:6379");
  settings.map_address = [port = server.port()](const NodeAddress& announced) {
    return announced.port == 6379 ? NodeAddress{kLocal, port} : NodeAddress{"loops.invalid", 6379};
  };
  Client client(settings);
  EXPECT_EQ(client.lock("orders").acquire().release(), ReleaseOutcome::released);
  EXPECT_EQ(client.node(), "10.255.255.1:6379");
}

TEST_F(Addresses, AMapThatLeadsNowhereIsAnErrorWithBothAddresses) {
  const PortLease nobody;
  Config settings =
      config("redis://orders.invalid:6379?map=orders.invalid:6379=127.0.0.1:" + std::to_string(nobody.port()));
  Client client(settings);
  EXPECT_THAT(error_of([&] { client.ping(); }),
              IsError(Errc::unreachable, "", "orders.invalid:6379",
                      HasSubstr("127.0.0.1:" + std::to_string(nobody.port()) + ": Connection refused")));
}

TEST_F(Addresses, AMapThatFailsIsAnErrorWithItsWords) {
  const std::pair<AddressMap, const char*> bad[] = {
      {[](const NodeAddress&) -> NodeAddress { throw std::runtime_error("no such\nnode"); },
       "map_address threw: \"no such\\nnode\""},
      {[](const NodeAddress&) -> NodeAddress { throw 1; }, "no std::exception"},
      {[](const NodeAddress&) { return NodeAddress{}; }, "no host or no port"},
      {[](const NodeAddress&) { return NodeAddress{"h", 0}; }, "no host or no port"}};
  for (const auto& [map, words] : bad) {
    Config settings = config();
    settings.map_address = map;
    Client client(settings);
    EXPECT_THAT(error_of([&] { client.ping(); }),
                IsError(Errc::unreachable, "", client.node(), AllOf(HasSubstr(words), testing::Not(HasSubstr("\n")))));
  }
}

TEST_F(Addresses, AMapThatDoesNotReturnHoldsUpNothing) {
  const auto stalls = std::make_shared<std::atomic<bool>>(false);
  Config settings = config();
  settings.lease = 600ms;
  settings.loss_notice = false;
  settings.timing.connect_timeout = 200ms;
  settings.map_address = [stalls](const NodeAddress& announced) {
    while (*stalls) std::this_thread::sleep_for(5ms);
    return announced;
  };
  Client first(settings);
  const Hold hold = first.lock("orders").acquire();
  *stalls = true;
  {
    Client second(settings);
    EXPECT_THAT(error_of([&] { second.ping(); }),
                IsError(Errc::unreachable, "", second.node(), HasSubstr("address of 127.0.0.1")));
    const auto end = steady_clock::now() + 3 * settings.lease;
    while (steady_clock::now() < end) EXPECT_EQ(first.lock("busy").acquire().release(), ReleaseOutcome::released);
  }
  EXPECT_EQ(hold.state(), HoldState::held);
  *stalls = false;
}

// --- addresses ---

TEST_F(Addresses, ABlackHoleCostsLittleEachTime) {
  const BlackHole hole;
  const Name name("two.test", {{kLocal, hole.port()}, here()});
  Config settings = named(name);
  settings.timing.connect_timeout = 20s;
  settings.timing.command_timeout = 10s;
  Client client(settings);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_LT(duration_of([&] { client.ping(); }), 5s);
    EXPECT_EQ(client.counters().connections, i);
    raw.command("CLIENT", "KILL", "TYPE", "normal");
    ASSERT_TRUE(log->wait_for("down", i));
  }
}

TEST_F(Addresses, ARefusedAddressCostsNothing) {
  const PortLease nobody;
  const Name name("two.test", {{kLocal, nobody.port()}, here()});
  Config settings = named(name);
  settings.timing.connect_timeout = 60s;
  settings.timing.command_timeout = 30s;
  Client client(settings);
  client.ping();
  EXPECT_EQ(log->count("down"), 0U);
}

TEST_F(Addresses, EachAddressThatRefusesIsNamed) {
  const PortLease one, two;
  const Name name("two.test", {{kLocal, one.port()}, {"::1", two.port()}});
  Client client(named(name));
  const std::string refused = ": Connection refused";
  EXPECT_THAT(error_of([&] { client.ping(); }),
              IsError(Errc::unreachable, "", client.node(),
                      AllOf(HasSubstr("127.0.0.1:" + std::to_string(one.port()) + refused),
                            HasSubstr("[::1]:" + std::to_string(two.port())))));
}

TEST_F(Addresses, AServerThatConnectsButIsFrozenIsNotTriedFirstAgain) {
  RedisServer frozen({.listen = ServerOptions::Listen::tcp});
  frozen.freeze();
  const Name name("two.test", {{kLocal, frozen.port()}, here()});
  Config settings = named(name);
  settings.timing.connect_timeout = 500ms;
  Client client(settings);
  EXPECT_TRUE(eventually([&] { return !error_of([&] { client.ping(); }); }));
  ASSERT_TRUE(log->wait_for("up"));
  EXPECT_THAT(log->details("down"), Contains(HasSubstr("no answer to the login from 127.0.0.1:")));
}

TEST_F(Addresses, ABlackHoleAloneIsNamedAsTheCause) {
  const BlackHole hole;
  const std::string where = kLocal + ":" + std::to_string(hole.port());
  Config settings = config("redis://" + where);
  settings.timing.command_timeout = 300ms;
  settings.timing.connect_timeout = 10s;
  Client patient(settings);
  EXPECT_THAT(error_of([&] { patient.ping(); }),
              IsError(Errc::unreachable, "", where, HasSubstr("no connection to " + where + " after ")));
  settings.timing.command_timeout = 10s;
  settings.timing.connect_timeout = 300ms;
  Client client(settings);
  EXPECT_THAT(error_of([&] { client.ping(); }),
              IsError(Errc::unreachable, "", where, HasSubstr("no connection to " + where + " within 300 ms")));
}

// --- name servers ---

TEST_F(Addresses, ANameThatDoesNotExistIsSaidToBeTheCause) {
  const Name name("nowhere.test");
  Client client(named(name));
  EXPECT_THAT(error_of([&] { client.ping(); }),
              IsError(Errc::unreachable, "", client.node(), HasSubstr("no address was found for nowhere.test: ")));
}

TEST_F(Addresses, ClosingDoesNotWaitForANameServer) {
  Name name("silent.test");
  name.silent(true);
  std::optional<Client> closed(named(name)), destroyed(named(name));
  ASSERT_TRUE(eventually([&] { return name.waiting() == 2; }));
  EXPECT_LT(duration_of([&] { closed->close(); }), 1s);
  EXPECT_LT(duration_of([&] { destroyed.reset(); }), 1s);
  // The answer comes all the same, and meets nobody.
  name.set({here()});
  name.silent(false);
  EXPECT_TRUE(eventually([&] { return name.waiting() == 0; }));
  EXPECT_EQ(log->count("up"), 0U);
}

TEST_F(Addresses, ASilentNameServerIsAskedByAFewThreadsAtMostAndNamedAsTheCause) {
  Name name("silent.test", {here()});
  name.silent(true);
  Config settings = named(name);
  settings.timing.connect_timeout = 30ms;
  settings.timing.command_timeout = 10s;
  settings.timing.reconnect_max = 20ms;
  Client client(settings);
  EXPECT_THAT(error_of([&] { client.ping(); }),
              IsError(Errc::unreachable, "", client.node(), HasSubstr("no address of silent.test within 30 ms")));
  ASSERT_TRUE(log->wait_for("down", 6));
  EXPECT_EQ(name.waiting(), 2);
  EXPECT_EQ(name.asked(), 2);
  name.silent(false);
  EXPECT_TRUE(eventually([&] { return !error_of([&] { client.ping(); }); }));
}

#if !defined(__SANITIZE_THREAD__)  // which counts the threads that the test's own server leaves in the child
TEST_F(Addresses, AProcessEndsWhileANameIsLookedUp) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Name name("silent.test");
        name.silent(true);
        auto client = std::make_unique<Client>(Config::from_url("redis://silent.test"));
        const bool asked = eventually([&] { return name.waiting() == 1; });
        client.reset();
        std::exit(asked ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

// --- a server that was replaced ---

class Failover : public Addresses {
 protected:
  /// The second server takes the first one's place.
  void fail_over() {
    Raw at_successor(successor);
    at_successor.command("REPLICAOF", "NO", "ONE");
    raw.command("REPLICAOF", kLocal, successor.port());
  }

  RedisServer successor{{.listen = ServerOptions::Listen::tcp, .replica_of = &server}};
};

TEST_F(Failover, AReadOnlyServerIsLeftAndTheNameLookedUpAgain) {
  Name name("primary.test", {here()});
  Client client(named(name));
  Hold hold = client.lock("held").acquire();
  Raw at_successor(successor);
  ASSERT_TRUE(eventually([&] { return at_successor.exists("held"); }));
  fail_over();
  name.set({{kLocal, successor.port()}});
  bool renewed_elsewhere = false;
  EXPECT_TRUE(eventually([&] {
    const bool renewed = at_successor.calls("evalsha") > 0;  // before it looks whether the main connection has gone
    const bool left = log->count("down") > 0;
    renewed_elsewhere = renewed_elsewhere || (renewed && !left);
    return renewed || left;
  }));
  EXPECT_FALSE(renewed_elsewhere) << "on the connection that watches, which leads to the successor";
  ASSERT_TRUE(log->wait_for("up", 2)) << "the next renewal meets a read-only server";
  const std::uint64_t renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > renewals && hold.state() == HoldState::held; }));
  const Hold other = client.lock("other").acquire();
  EXPECT_TRUE(at_successor.exists("other"));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_THAT(log->details("down"), Contains(HasSubstr("READONLY")));
}

TEST_F(Failover, AReadOnlyServerIsLeftThoughOnlyTheConnectionThatWatchesMeetsIt) {
  Name name("primary.test", {here()});
  Client client(named(name));
  const Hold hold = client.lock("held").acquire();
  ASSERT_TRUE(eventually([&] { return raw.calls("exec") >= 2; })) << "the trial, and a renewal";
  Raw at_successor(successor);
  ASSERT_TRUE(eventually([&] { return at_successor.exists("held"); }));
  fail_over();
  name.set({{kLocal, successor.port()}});
  ASSERT_TRUE(log->wait_for("up", 2));
  const std::uint64_t renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > renewals; }));
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST_F(Failover, AnAddressThatIsReadOnlyIsTriedLast) {
  const Name name("both.test", {{kLocal, successor.port()}, here()});
  Client client(named(name));
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::read_only, "orders", client.node(), HasSubstr("READONLY")));
  EXPECT_TRUE(client.lock("orders").acquire());
}

TEST_F(Failover, AReadOnlyServerIsNotStormed) {
  Config settings = config(successor.url());
  settings.timing.reconnect_max = 400ms;
  Client client(settings);
  const auto end = steady_clock::now() + 3s;
  int failed = 0;
  for (; steady_clock::now() < end; ++failed) {
    EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
                IsError(Errc::read_only, "orders", client.node(), HasSubstr("READONLY")));
  }
  // 20, 40, ... 400 ms, each by half at least: nine connections in the first second, five in each further one.
  EXPECT_THAT(client.counters().connections, AllOf(Ge(3U), Lt(30U)));
  EXPECT_GE(failed, 3);
}

TEST_F(Failover, WhatIsUnderWayIsAnsweredBeforeTheSessionEnds) {
  raw.command("REPLICAOF", kLocal, 1);
  Client client(config());
  std::vector<std::future<void>> busy;
  std::atomic<bool> over{false};
  for (int i = 0; i < 4; ++i) {
    busy.push_back(in_thread([&, i] {
      const Lock lock = client.lock("free" + std::to_string(i));
      while (!over) EXPECT_FALSE(lock.is_locked());
    }));
  }
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(error_of([&] { return client.lock("orders").acquire(); }));
  over = true;
  for (std::future<void>& each : busy) EXPECT_NO_THROW(each.get());
  EXPECT_GE(client.counters().connections, 2U);
  EXPECT_EQ(client.counters().unknown, 0U);
}

}  // namespace
}  // namespace holdfast::test::addresses_test
