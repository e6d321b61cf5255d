// SPDX-License-Identifier: Apache-2.0
// Semaphore: a number that nobody holds, which no call changes twice.
#include <algorithm>

#include "faults.hpp"

namespace holdfast::test::semaphore_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kName = "slots", kChannel = "redisson_sc:{slots}";

class Counting : public Faults {
 protected:
  Counting() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  static Semaphore slots(const Client& client) { return client.semaphore(kName); }
  std::string number() { return raw.command("GET", kName).text; }
  bool listened(long long connections = 1) {
    return eventually([&] { return raw.command("PUBSUB", "NUMSUB", kChannel).elements[1].integer == connections; });
  }
  static std::future<void> start(const Semaphore& semaphore, std::uint32_t permits = 1, std::stop_token stop = {}) {
    return in_thread([semaphore, permits, stop] { semaphore.acquire(permits, stop); });
  }
  static std::error_code code_of(const std::function<void()>& call) {
    const std::optional<Error> error = error_of([&] { return call(), 0; });
    return error ? error->code() : std::error_code();
  }

  Proxy proxy{server};
};

TEST_F(Counting, CountsAsTheStandardsDoes) {
  const Client client(config()), other(config());
  const Semaphore semaphore = slots(client);
  EXPECT_EQ(semaphore.available(), 0);
  EXPECT_EQ(code_of([&] { std::ignore = semaphore.try_acquire(); }), Errc::not_set);
  EXPECT_FALSE(semaphore.release()) << "there is nothing to give back to";
  EXPECT_TRUE(semaphore.init(10));
  EXPECT_FALSE(slots(other).init(4));
  semaphore.acquire();
  EXPECT_EQ(slots(other).available(), 9);
  EXPECT_TRUE(semaphore.release());
  semaphore.acquire(5);
  EXPECT_FALSE(slots(other).try_acquire(6));
  EXPECT_TRUE(slots(other).try_acquire(5));
  EXPECT_FALSE(semaphore.try_acquire_for(50ms));
  EXPECT_FALSE(semaphore.try_acquire_until(steady_clock::now() + 50ms, 2));
  EXPECT_TRUE(slots(other).release(10)) << "whoever took them";
  EXPECT_EQ(semaphore.drain(), 10);
  EXPECT_EQ(semaphore.drain(), 0);
  EXPECT_EQ(semaphore.add(-5), -5);
  EXPECT_EQ(semaphore.available(), -5);
  EXPECT_FALSE(semaphore.try_acquire());
  EXPECT_EQ(semaphore.add(6), 1);
  EXPECT_TRUE(semaphore.try_acquire_for(10s));
  EXPECT_EQ(client.counters().holding, 0U) << "nobody holds anything";
  EXPECT_THAT(log->details("lost"), IsEmpty());
}

TEST_F(Counting, LivesAsLongAsItWasSetFor) {
  const Client client(config());
  EXPECT_TRUE(slots(client).init(3, 300ms));
  slots(client).acquire();
  EXPECT_GT(raw.pttl(kName), 0);
  EXPECT_TRUE(eventually([&] { return !raw.exists(kName); }));
  EXPECT_FALSE(slots(client).release()) << "it is not made anew, without a time to live";
  EXPECT_FALSE(raw.exists(kName));
}

TEST_F(Counting, NumbersThatMakeNoSenseAreRefusedBeforeAnythingIsSent) {
  const Client client(config());
  const auto refused = [&](const auto& call, const std::string& why) {
    EXPECT_THAT(error_of([&] { return call(), 0; }),
                IsError(Errc::invalid_argument, kName, client.node(), HasSubstr(why)));
  };
  refused([&] { slots(client).acquire(0); }, "0 permits at once; it must be from 1 to 2147483647");
  refused([&] { std::ignore = slots(client).try_acquire(1U << 31); }, "2147483648 permits at once");
  refused([&] { slots(client).release(0); }, "0 permits given back");
  refused([&] { std::ignore = slots(client).init(-1); }, "-1 permits");
  refused([&] { std::ignore = slots(client).init(1, 0ms); }, "a time to live of 0 ms");
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

TEST_F(Counting, WhatIsNoNumberIsLeftAlone) {
  const Client client(config());
  raw.command("HSET", kName, "field", "1");
  EXPECT_EQ(code_of([&] { slots(client).acquire(); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { slots(client).release(); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { slots(client).add(1); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { slots(client).drain(); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { std::ignore = slots(client).available(); }), Errc::wrong_type);
  EXPECT_THAT(raw.hgetall(kName), testing::SizeIs(1));
}

// ---- who waits ----

TEST_F(Counting, WhoWaitsIsServedInOrderAndNotBeforeThereAreEnough) {
  const Client client(config()), other(config());
  EXPECT_TRUE(slots(client).init(0));
  auto first = start(slots(client), 3);
  ASSERT_TRUE(listened());
  auto second = start(slots(client));
  std::this_thread::sleep_for(100ms);  // it is behind the other one by now
  slots(other).release(2);
  EXPECT_FALSE(ready(second, 300ms)) << "the one before it wants three";
  slots(other).release();
  ASSERT_TRUE(ready(first, 5000ms)) << "a safety poll comes after a minute only";
  EXPECT_FALSE(ready(second, 100ms));
  slots(client).release();
  ASSERT_TRUE(ready(second, 5000ms));
  EXPECT_EQ(number(), "0");
}

TEST_F(Counting, OneMessageServesAllWhoWaitHereAndElsewhere) {
  const Client client(config()), other(config());
  EXPECT_TRUE(slots(client).init(0));
  std::vector<std::future<void>> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(start(slots(i % 2 == 0 ? client : other)));
  ASSERT_TRUE(listened(2));
  slots(other).release(10);
  for (auto& each : waiting) ASSERT_TRUE(ready(each, 10'000ms));
  EXPECT_EQ(number(), "0");
}

TEST_F(Counting, WhatIsReleasedIsPassedOnInsideAClientToOneWhoWantsAsMany) {
  const Client client(config());
  EXPECT_TRUE(slots(client).init(3));
  std::atomic<int> taken{0}, most{0};
  std::vector<std::future<void>> callers;
  for (int i = 0; i < 8; ++i) {
    callers.push_back(in_thread([&, permits = 1 + i % 2] {
      for (int round = 0; round < 300; ++round) {
        if (!slots(client).try_acquire_for(10s, static_cast<std::uint32_t>(permits))) {
          ADD_FAILURE() << "some are lost";
          return;
        }
        const int now = taken += permits;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
        taken -= permits;
        EXPECT_TRUE(slots(client).release(permits));
      }
    }));
  }
  for (auto& caller : callers) caller.get();
  EXPECT_LE(most, 3);
  EXPECT_GT(client.counters().local_handoffs, 0U);
  EXPECT_TRUE(eventually([&] { return number() == "3"; })) << number();
}

TEST_F(Counting, WhatIsBeingPassedOnWhenItsClientIsClosedIsBack) {
  Client client(config());
  EXPECT_TRUE(slots(client).init(3));
  std::atomic<int> kept{0};
  std::vector<std::future<void>> callers;
  for (int i = 0; i < 8; ++i) {
    callers.push_back(in_thread([&] {
      while (!code_of([&] { slots(client).acquire(); })) {
        if (code_of([&] { slots(client).release(); })) ++kept;
      }
    }));
  }
  EXPECT_TRUE(eventually([&] { return client.counters().local_handoffs > 100; }));
  client.close();
  for (auto& caller : callers) caller.get();
  EXPECT_TRUE(eventually([&] { return std::stoi(number()) >= 3 - kept; })) << number() << ", and kept " << kept;
  EXPECT_LE(std::stoi(number()), 3);
}

TEST_F(Counting, WhoIsStoppedTakesNothing) {
  const Client client(config());
  EXPECT_TRUE(slots(client).init(0));
  std::stop_source stop;
  auto waiting = start(slots(client), 1, stop.get_token());
  ASSERT_TRUE(listened());
  stop.request_stop();
  EXPECT_EQ(code_of([&] { waiting.get(); }), Errc::cancelled);
  slots(client).release();
  EXPECT_EQ(slots(client).available(), 1);
  EXPECT_FALSE(slots(client).try_acquire_for(10s, 1, stop.get_token()));
}

TEST_F(Counting, PermitsOfWhichNobodyTellsAreFoundByAPoll) {
  Config settings = config();
  settings.timing.safety_poll = 400ms;
  const Client client(settings);
  EXPECT_TRUE(slots(client).init(0));
  auto waiting = start(slots(client));
  ASSERT_TRUE(listened());
  raw.command("INCRBY", kName, 1);  // without a message
  ASSERT_TRUE(ready(waiting, 10'000ms));
  EXPECT_GE(client.counters().safety_poll_wakes, 1U);
}

TEST_F(Counting, PermitsOfWhichItWasToldWhileCutOffAreFoundWhenItIsBack) {
  const Client client(config(proxy.url())), other(config());
  EXPECT_TRUE(slots(other).init(0));
  auto waiting = start(slots(client));
  ASSERT_TRUE(listened());
  proxy.refuse(true);
  proxy.cut();
  slots(other).release();
  proxy.refuse(false);
  ASSERT_TRUE(ready(waiting, 10'000ms));
}

// ---- what is sent twice counts once ----

TEST_F(Counting, EachChangeWhoseReplyIsLostCountsOnce) {
  const Client client(config(proxy.url()));
  client.ping();
  std::size_t cuts = 0;
  const auto counts = [&](const auto& call, const std::string& left) {
    proxy.cut_after_next_request(kName);
    call();
    EXPECT_EQ(proxy.fired(), ++cuts);
    EXPECT_EQ(number(), left);
  };
  counts([&] { EXPECT_TRUE(slots(client).init(10)); }, "10");
  counts([&] { slots(client).acquire(3); }, "7");
  counts([&] { EXPECT_TRUE(slots(client).release(2)); }, "9");
  counts([&] { EXPECT_EQ(slots(client).add(5), 14); }, "14");
  counts([&] { EXPECT_EQ(slots(client).drain(), 14); }, "0");
}

TEST_F(Counting, AnAcquireThatNobodyWaitsForIsUndoneOnceWhetherItWasCarriedOutOrNot) {
  const Client client(config(proxy.url()));
  client.ping();
  raw.command("SET", kName, 5);
  proxy.cut_after_next_request(kName);
  proxy.refuse(true);
  EXPECT_TRUE(code_of([&] { static_cast<void>(slots(client).try_acquire_for(300ms, 2)); }));
  EXPECT_EQ(number(), "3");
  proxy.refuse(false);
  EXPECT_TRUE(eventually([&] { return number() == "5"; }));
  client.ping();
  proxy.hold_next_request(kName);
  proxy.refuse(true);
  EXPECT_TRUE(code_of([&] { static_cast<void>(slots(client).try_acquire_for(300ms, 2)); }));
  proxy.refuse(false);
  const auto given_up = [&] {
    const std::vector<Reply> remembered = raw.command("KEYS", "*:acquire").elements;
    return std::ranges::any_of(remembered, [&](const Reply& key) { return raw.command("GET", key.text).text == "-1"; });
  };
  EXPECT_TRUE(eventually(given_up));
  proxy.deliver_held();
  client.ping();
  EXPECT_EQ(number(), "5") << "what arrives late takes nothing";
}

TEST_F(Counting, AChangeOfWhichNobodyKnowsWhetherItWasMadeSaysSo) {
  Config settings = config(proxy.url());
  settings.timing.patience = 500ms;
  const Client client(settings);
  client.ping();
  raw.command("SET", kName, 5);
  proxy.cut_after_next_request(kName);
  proxy.refuse(true);
  EXPECT_EQ(code_of([&] { slots(client).release(); }), Errc::unknown_outcome);
  EXPECT_EQ(number(), "6");
}

TEST_F(Counting, WhileConnectionsAreKilledNoPermitIsMadeOrLost) {
  const Client client(config());
  EXPECT_TRUE(slots(client).init(3));
  std::atomic<bool> over{false};
  auto killing = in_thread([&] {
    Raw killer(server);
    while (!over) {
      killer.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      std::this_thread::sleep_for(20ms);
    }
  });
  std::atomic<int> having{0}, most{0};
  std::vector<std::future<void>> callers;
  for (std::uint32_t i = 0; i < 6; ++i) {
    callers.push_back(in_thread([&, permits = 1 + i % 2] {
      for (int round = 0; round < 15; ++round) {
        slots(client).acquire(permits);
        const int now = having += static_cast<int>(permits);
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
        std::this_thread::sleep_for(milliseconds(round % 4));
        having -= static_cast<int>(permits);
        EXPECT_TRUE(slots(client).release(permits));
      }
    }));
  }
  for (auto& caller : callers) caller.wait();
  over = true;
  killing.get();
  for (auto& caller : callers) caller.get();
  EXPECT_LE(most, 3);
  Raw look(server);
  EXPECT_EQ(look.command("GET", kName).text, "3");
}

}  // namespace
}  // namespace holdfast::test::semaphore_test
