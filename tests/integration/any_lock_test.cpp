// SPDX-License-Identifier: Apache-2.0
// AnyLock: one holder for each name, and nobody waits while one is free.
#include <set>

#include "any_of.hpp"
#include "faults.hpp"
#include "support/listen.hpp"

namespace holdfast::test::any_lock_test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kGpus{"gpu:0", "gpu:1", "gpu:2"};

class AnyOne : public Faults {
 protected:
  AnyOne() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  /// All but these are taken by somebody else.
  void take_all_but(const std::set<std::string>& free) {
    for (const std::string& name : kGpus) {
      if (free.contains(name)) continue;
      raw.command("HSET", name, "99999999-2222-4333-8444-555555555555:7", 1);
      raw.command("PEXPIRE", name, 3'600'000);
    }
  }
  /// Somebody else gives it back.
  void give_back(const std::string& name) {
    raw.command("DEL", name);
    raw.command("PUBLISH", channel_of(name), "0");
  }
};

TEST_F(AnyOne, TheFirstThatIsFreeIsTakenAsTheLockOfItsName) {
  Client client(config());
  const AnyLock any = client.any_lock(kGpus);
  std::vector<Hold> holds;
  for (const std::string& name : kGpus) {
    const auto before = client.counters().commands;
    holds.push_back(any.acquire());
    EXPECT_EQ(client.counters().commands, before + 1);
    EXPECT_EQ(holds.back().name(), name);
    EXPECT_THAT(raw.hgetall(name), HeldBy(holds.back().owner()));
    EXPECT_EQ(client.lock(name).try_acquire(), std::nullopt) << "it is an ordinary lock";
  }
  EXPECT_EQ(any.try_acquire(), std::nullopt);
  EXPECT_EQ(error_of([&] { return any.acquire({.wait = 20ms}); })->code(), code(Errc::timed_out));
  EXPECT_EQ(holds[1].release(), ReleaseOutcome::released);
  const Hold again = any.acquire({.wait = 10s});
  EXPECT_EQ(again.name(), "gpu:1");
  EXPECT_EQ(any.name(), "gpu:0, gpu:1, gpu:2");
}

TEST_F(AnyOne, WhoWaitsLearnsHowManyOthersDo) {
  take_all_but({});
  Client client(config());
  Monitor monitor(server);
  EXPECT_EQ(client.any_lock(kGpus).try_acquire({.wait = 50ms}), std::nullopt);
  std::vector<std::string> counted;
  for (const MonitorLine& line : monitor.lines(Lines::from_scripts)) {
    if (line.args.at(0) == "PUBSUB") counted.push_back(line.args.at(2));
  }
  EXPECT_THAT(counted, testing::Contains(channel_of("gpu:0")));
}

TEST_F(AnyOne, WhatIsTakenAloneIsLeftOut) {
  Client client(config());
  const Hold alone = client.lock("gpu:0").acquire();
  const Hold any = client.any_lock(kGpus).acquire();
  EXPECT_EQ(any.name(), "gpu:1");
}

TEST_F(AnyOne, TheReleaseOfAnyOfThemWakesAWaiter) {
  for (const std::string& name : kGpus) {
    take_all_but({});
    Client client(config());
    auto waiter = in_thread([&] { return client.any_lock(kGpus).acquire({.wait = 20s}); });
    for (const std::string& each : kGpus) ASSERT_TRUE(listeners(raw, each)) << each;
    EXPECT_FALSE(ready(waiter, 50ms));
    give_back(name);
    ASSERT_TRUE(ready(waiter)) << "the safety poll is a minute away";
    EXPECT_EQ(waiter.get().name(), name);
    raw.flushall();
  }
}

TEST_F(AnyOne, AReleaseInTheSameClientWakesAWaiter) {
  for (const bool by_its_name : {false, true}) {
    Client client(config());
    take_all_but({"gpu:2"});
    Hold hold = by_its_name ? client.lock("gpu:2").acquire() : client.any_lock(kGpus).acquire();
    auto waiter = in_thread([&] { return client.any_lock(kGpus).acquire({.wait = 20s}); });
    ASSERT_TRUE(listeners(raw, "gpu:2"));
    EXPECT_FALSE(ready(waiter, 50ms));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    ASSERT_TRUE(ready(waiter));
    EXPECT_EQ(waiter.get().name(), "gpu:2");
    raw.flushall();
  }
}

/// Nobody tells of it.
TEST_F(AnyOne, TheEndOfALeaseOfAnyOfThemIsWaitedFor) {
  take_all_but({});
  raw.command("PEXPIRE", "gpu:1", 400);
  Client client(config());
  auto waiter = in_thread([&] { return client.any_lock(kGpus).acquire({.wait = 20s}); });
  ASSERT_TRUE(ready(waiter, 10s)) << "the others have an hour";
  EXPECT_EQ(waiter.get().name(), "gpu:1");
}

TEST_F(AnyOne, AHoldIsRenewedAndLearnsOfItsLoss) {
  Client client(config());
  Hold hold = client.any_lock(kGpus).acquire({.lease = renewed(600ms)});
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 5; }));
  EXPECT_FALSE(hold.is_lost());
  EXPECT_FALSE(raw.exists("gpu:1")) << "no other one is touched";
  raw.command("DEL", "gpu:0");
  EXPECT_TRUE(eventually([&] { return hold.is_lost(); }));
}

/// Of an owner that may have one, no attempt takes another.
TEST_F(AnyOne, AnAcquireOfUnknownOutcomeLeavesNothingBehind) {
  Proxy proxy(server);
  Config settings = config(server.url_with_port(proxy.port()));
  settings.timing.command_timeout = 300ms;
  settings.timing.patience = 10s;
  Client client(settings);
  client.ping();
  take_all_but({"gpu:1", "gpu:2"});
  proxy.drop_replies(true);
  auto asked = in_thread([&] { return client.any_lock(kGpus).acquire({.wait = 20s}); });
  ASSERT_TRUE(eventually([&] { return raw.exists("gpu:1"); })) << "it was granted, and the reply is lost";
  proxy.drop_replies(false);
  proxy.cut();
  ASSERT_TRUE(ready(asked));
  const Hold hold = asked.get();
  EXPECT_EQ(hold.name(), "gpu:1");
  EXPECT_FALSE(raw.exists("gpu:2"));
}

TEST_F(AnyOne, AnAcquireThatIsGivenUpIsUndone) {
  Config settings = config();
  settings.timing.command_timeout = 5s;
  Client client(settings);
  client.ping();
  take_all_but({"gpu:2"});
  server.freeze();
  std::stop_source stop;
  auto asked = in_thread([&] {
    return error_of([&] { return client.any_lock(kGpus).acquire({.lease = renewed(1h), .stop = stop.get_token()}); });
  });
  std::this_thread::sleep_for(50ms);
  stop.request_stop();
  ASSERT_TRUE(ready(asked));
  EXPECT_EQ(asked.get()->code(), code(Errc::cancelled));
  server.thaw();
  EXPECT_TRUE(eventually([&] { return client.counters().commands >= 3 && !raw.exists("gpu:2"); }));
  EXPECT_TRUE(raw.exists("gpu:0") && raw.exists("gpu:1")) << "what is somebody else's stays";
}

/// Three names, eight callers in two clients: at most three inside, each name once, and all three in use.
TEST_F(AnyOne, OfManyCallersEachHasANameOfItsOwn) {
  const Client here(config());
  const Client there(config());
  expect_a_name_for_each({&here, &there, &here, &there, &here, &there, &here, &there}, kGpus, 30s);
  for (const std::string& name : kGpus) EXPECT_FALSE(raw.exists(name));
}

TEST_F(AnyOne, AThreadMayHoldItAndIsToldThatItWouldWaitForItself) {
  Client client(config());
  const AnyLock any = client.any_lock(kGpus);
  {
    const std::scoped_lock guard(any);
    EXPECT_TRUE(raw.exists("gpu:0"));
    EXPECT_EQ(error_of([&] { return any.lock(), 0; })->code(), code(Errc::would_deadlock));
    EXPECT_FALSE(raw.exists("gpu:1"));
  }
  EXPECT_TRUE(eventually([&] { return !raw.exists("gpu:0"); }));
}

TEST_F(AnyOne, WhatIsNoLockIsRefused) {
  Client client(config());
  raw.command("SET", "gpu:1", "somebody's own");
  EXPECT_THAT(error_of([&] { return client.any_lock(kGpus).acquire(); }),
              IsError(Errc::wrong_type, "gpu:0, gpu:1, gpu:2", client.node(), HasSubstr("name 2 of 3")));
  EXPECT_FALSE(raw.exists("gpu:0"));
  EXPECT_EQ(error_of([&] { return client.any_lock({}); })->code(), code(Errc::invalid_argument));
  EXPECT_EQ(error_of([&] { return client.any_lock({"a", ""}); })->code(), code(Errc::invalid_argument));
}

TEST_F(AnyOne, OneNameIsAnOrdinaryLock) {
  Client client(config());
  Hold hold = client.any_lock({"gpu:0", "gpu:0"}).acquire();
  EXPECT_EQ(hold.name(), "gpu:0");
  auto waiter = in_thread([&] { return client.any_lock({"gpu:0"}).acquire().name(); });
  ASSERT_TRUE(listeners(raw, "gpu:0"));
  hold.release();
  EXPECT_TRUE(ready(waiter));
}

TEST_F(AnyOne, AHoldTravelsAsThatOfItsName) {
  Client client(config());
  const std::string ticket = client.any_lock(kGpus).acquire().detach();
  EXPECT_EQ(client.lock("gpu:0").adopt(ticket).release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::any_lock_test
