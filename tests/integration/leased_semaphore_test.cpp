// SPDX-License-Identifier: Apache-2.0
// LeasedSemaphore: how many have a permit, and that each comes back once, whatever becomes of those who had it.
#include <csignal>
#include <random>

#include "leased.hpp"
#include "support/taker.hpp"

namespace holdfast::test::leased_semaphore_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::SizeIs;

static_assert(!std::is_constructible_v<MultiLock, std::vector<LeasedSemaphore>>, "several have no number in common");
static_assert(!std::is_constructible_v<RedLock, std::vector<LeasedSemaphore>>);

// ---- how many ----

TEST_F(Leased, AsManyHaveOneAsThereArePermitsAndEachHasAnIdOfItsOwn) {
  const Client client(config()), other(config());
  EXPECT_EQ(error_of([&] { return semaphore(client).try_acquire(); })->code(), code(Errc::not_set));
  EXPECT_EQ(semaphore(client).available(), 0);
  EXPECT_TRUE(semaphore(client).init(3));
  EXPECT_FALSE(semaphore(other).init(7)) << "there is one";
  Hold first = semaphore(client).acquire(), second = semaphore(client).acquire(), third = semaphore(other).acquire();
  EXPECT_FALSE(can_take(semaphore(client)));
  EXPECT_FALSE(can_take(semaphore(other)));
  EXPECT_EQ(semaphore(client).available(), 0);
  for (const Hold* hold : {&first, &second, &third}) {
    EXPECT_THAT(hold->owner(), MatchesRegex("[0-9a-f]{32}"));
    EXPECT_TRUE(semaphore(other).is_held_by(hold->owner()));
    EXPECT_GT(hold->valid_for(), 0ms);
  }
  EXPECT_NE(first.owner(), second.owner());
  EXPECT_THAT(semaphore(other).info().holders, SizeIs(3));
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  EXPECT_FALSE(semaphore(other).is_held_by(third.owner() + "x"));
  EXPECT_EQ(semaphore(other).available(), 1);
  EXPECT_TRUE(can_take(semaphore(other)));
  second.release();
  third.release();
  EXPECT_TRUE(all_back("3"));
}

TEST_F(Leased, SeveralPermitsAreTakenAtOnceOrNotAtAll) {
  const Client client(config());
  EXPECT_TRUE(semaphore(client).init(5));
  const LeasedSemaphore three = semaphore(client).with_permits(3);
  Hold hold = three.acquire();
  EXPECT_THAT(hold.owner(), MatchesRegex("([0-9a-f]{32},){2}[0-9a-f]{32}"));
  EXPECT_EQ(semaphore(client).available(), 2);
  EXPECT_EQ(held(), 3);
  EXPECT_FALSE(can_take(three));
  EXPECT_EQ(semaphore(client).available(), 2) << "it has taken none of them";
  EXPECT_TRUE(can_take(semaphore(client).with_permits(2)));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("5"));
}

TEST_F(Leased, NumbersThatMakeNoSenseAreRefusedBeforeAnythingIsSent) {
  const Client client(config());
  const LeasedSemaphore gpus = semaphore(client);
  const auto refused = [&](const std::string& why) {
    return IsError(Errc::invalid_argument, name, client.node(), HasSubstr(why));
  };
  EXPECT_THAT(error_of([&] { return gpus.with_permits(0); }), refused("0 permits at once; it must be from 1 to 1000"));
  EXPECT_THAT(error_of([&] { return gpus.with_permits(1001); }), refused("1001 permits at once"));
  EXPECT_THAT(error_of([&] { return gpus.init(-1); }), refused("-1 permits; it must be from 0 to 2147483647"));
  EXPECT_THAT(error_of([&] { return gpus.set_total(1LL << 31); }), refused("2147483648 permits in all"));
  EXPECT_THAT(error_of([&] { return gpus.add(-(1LL << 31)); }), refused("-2147483648 permits more"));
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
  EXPECT_EQ(error_of([&] { return gpus.with_permits(1000).try_acquire(); })->code(), code(Errc::not_set));
  EXPECT_TRUE(gpus.init(1000));
  Hold all = gpus.with_permits(1000).acquire();
  EXPECT_EQ(held(), 1000);
  EXPECT_EQ(all.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("1000"));
}

TEST_F(Leased, TheNumberCanBeChangedWhilePermitsAreHeld) {
  const Client client(config());
  const LeasedSemaphore gpus = semaphore(client);
  EXPECT_EQ(gpus.set_total(2), 2);
  Hold first = gpus.acquire(), second = gpus.acquire();
  EXPECT_EQ(gpus.set_total(1), -1) << "more are held than there are to be";
  EXPECT_EQ(gpus.available(), -1);
  first.release();
  EXPECT_FALSE(can_take(gpus));
  EXPECT_EQ(gpus.add(2), 2);
  EXPECT_EQ(gpus.add(-1), 1);
  EXPECT_EQ(second.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("2"));
}

TEST_F(Leased, ATimeToLiveEndsTheNumberAndNoHold) {
  Config settings = config();
  settings.lease = 900ms;
  const Client client(settings), other(config());
  const LeasedSemaphore gpus = semaphore(client);
  EXPECT_THAT(error_of([&] { return gpus.init(1, 0ms); }),
              IsError(Errc::invalid_argument, name, client.node(), HasSubstr("a time to live of 0 ms")));
  EXPECT_TRUE(gpus.init(1, 300ms));
  EXPECT_EQ(gpus.set_total(2, 400ms), 2);
  EXPECT_FALSE(gpus.init(2, 500ms));
  EXPECT_GT(raw.pttl(name), 400) << "an earlier end is put off";
  Hold hold = gpus.acquire();
  EXPECT_TRUE(eventually([&] { return !raw.exists(name); }));
  const auto until = std::chrono::steady_clock::now() + 2s;
  while (std::chrono::steady_clock::now() < until) {
    ASSERT_FALSE(hold.is_lost());
    ASSERT_EQ(held(), 1);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(semaphore(other).init(2)) << "made anew";
  EXPECT_EQ(free(), "1") << "who holds it counts";
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("2"));
  EXPECT_FALSE(gpus.init(2, 1s));
  EXPECT_EQ(raw.pttl(name), -1) << "one without an end stays so";
}

TEST_F(Leased, WhatIsNoSemaphoreIsLeftAlone) {
  const Client client(config());
  raw.command("HSET", name, "field", "1");
  const auto wrong = [&](const auto& call) {
    EXPECT_THAT(error_of(call), IsError(Errc::wrong_type, name, client.node(), HasSubstr("it is a")));
  };
  wrong([&] { return semaphore(client).acquire(); });
  wrong([&] { return semaphore(client).init(3); });
  wrong([&] { return semaphore(client).set_total(3); });
  wrong([&] { return semaphore(client).add(3); });
  wrong([&] { return semaphore(client).available(); });
  wrong([&] { return semaphore(client).force_release(); });
  EXPECT_THAT(raw.hgetall(name), testing::ElementsAre(testing::Pair("field", "1")));
}

TEST_F(Leased, AThreadHasOnePermitByItsGuardAndAnyNumberOfHolds) {
  const Client client(config());
  EXPECT_TRUE(semaphore(client).init(3));
  const LeasedSemaphore gpus = semaphore(client);
  {
    const std::scoped_lock guard(gpus);
    EXPECT_FALSE(gpus.try_lock());
    EXPECT_EQ(error_of([&] { return gpus.lock(), 0; })->code(), Errc::would_deadlock);
    const Hold beside = gpus.acquire();
    EXPECT_TRUE(gpus.this_thread().is_holding());
    EXPECT_EQ(gpus.available(), 1);
  }
  EXPECT_TRUE(all_back("3"));
}

// ---- who waits ----

TEST_F(Leased, WhoWaitsIsServedByAReleaseHereAndElsewhere) {
  const Client client(config()), other(config());
  EXPECT_TRUE(semaphore(client).init(1));
  Hold first = semaphore(client).acquire();
  auto here = start(semaphore(client));
  auto there = start(semaphore(other));
  ASSERT_TRUE(listened());
  EXPECT_FALSE(ready(here, 200ms));
  first.release();
  const auto next = [&] { return ready(here, 0ms) || ready(there, 0ms); };
  ASSERT_TRUE(eventually(next, 5000ms)) << "a safety poll comes after a minute only";
  const bool is_here = ready(here, 0ms);
  Hold second = is_here ? here.get() : there.get();
  EXPECT_FALSE(ready(is_here ? there : here, 200ms));
  second.release();
  ASSERT_TRUE(ready(is_here ? there : here, 5000ms));
}

TEST_F(Leased, WhoWaitsIsServedWhenPermitsAreMade) {
  const Client client(config()), other(config());
  auto first = start(semaphore(client).with_permits(2));
  ASSERT_TRUE(listened());
  EXPECT_TRUE(semaphore(other).init(1));
  EXPECT_FALSE(ready(first, 300ms)) << "it wants two";
  semaphore(other).add(1);
  ASSERT_TRUE(ready(first, 5000ms));
  auto second = start(semaphore(client));
  EXPECT_FALSE(ready(second, 100ms));
  semaphore(other).set_total(3);
  ASSERT_TRUE(ready(second, 5000ms));
}

TEST_F(Leased, WhoWantsManyIsNotOvertakenInsideAClient) {
  const Client client(config());
  EXPECT_TRUE(semaphore(client).init(2));
  Hold one = semaphore(client).acquire(), other = semaphore(client).acquire();
  auto both = start(semaphore(client).with_permits(2));
  ASSERT_TRUE(listened());
  auto small = start(semaphore(client));
  std::this_thread::sleep_for(100ms);  // it is behind the other one by now
  one.release();
  EXPECT_FALSE(ready(small, 300ms)) << "the one before it wants two";
  EXPECT_FALSE(ready(both, 0ms));
  other.release();
  ASSERT_TRUE(ready(both, 5000ms));
  EXPECT_FALSE(ready(small, 100ms));
  both.get().release();
  ASSERT_TRUE(ready(small, 5000ms));
}

TEST_F(Leased, WhoWaitsInVainTakesNothing) {
  const Client client(config());
  EXPECT_TRUE(semaphore(client).init(2));
  Hold first = semaphore(client).acquire();
  EXPECT_FALSE(can_take(semaphore(client).with_permits(2), 300ms));
  std::stop_source stop;
  auto waiting = start(semaphore(client).with_permits(2), {.stop = stop.get_token()});
  ASSERT_TRUE(listened());
  stop.request_stop();
  EXPECT_EQ(error_of([&] { return waiting.get(); })->code(), Errc::cancelled);
  EXPECT_EQ(semaphore(client).available(), 1);
  first.release();
  EXPECT_TRUE(all_back("2"));
}

TEST_F(Leased, APermitOfWhichNobodyTellsIsFoundByAPoll) {
  Config settings = config();
  settings.timing.safety_poll = 400ms;
  const Client client(settings);
  EXPECT_TRUE(semaphore(client).init(0));
  auto waiting = start(semaphore(client));
  ASSERT_TRUE(listened());
  raw.command("INCRBY", name, 1);  // without a message
  ASSERT_TRUE(ready(waiting, 10'000ms));
}

// ---- leases ----

TEST_F(Leased, PermitsAreRenewedForAsLongAsTheyAreHeld) {
  Config settings = config();
  settings.lease = 900ms;
  const Client client(settings);
  EXPECT_TRUE(semaphore(client).init(3));
  Hold one = semaphore(client).acquire(), two = semaphore(client).with_permits(2).acquire();
  std::this_thread::sleep_for(2500ms);
  EXPECT_FALSE(one.is_lost());
  EXPECT_FALSE(two.is_lost());
  EXPECT_EQ(semaphore(client).available(), 0);
  EXPECT_GE(client.counters().renewals, 4U);
  EXPECT_EQ(one.release(), ReleaseOutcome::released);
  EXPECT_EQ(two.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("3"));
}

TEST_F(Leased, APermitThatIsTakenAwayIsLostAndWhatIsLeftOfItsHoldComesBack) {
  Config settings = config();
  settings.lease = 1500ms;
  const Client client(settings);
  EXPECT_TRUE(semaphore(client).init(3));
  Hold hold = semaphore(client).with_permits(2).acquire();
  Hold other = semaphore(client).acquire();
  EXPECT_TRUE(semaphore(client).force_release(hold.owner().substr(0, 32)));
  EXPECT_FALSE(semaphore(client).force_release(hold.owner().substr(0, 32)));
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_EQ(hold.loss_reason(), LossReason::taken);
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_FALSE(other.is_lost());
  EXPECT_EQ(semaphore(client).available(), 2);
  EXPECT_TRUE(semaphore(client).force_release());
  EXPECT_TRUE(eventually([&] { return other.is_lost(); }));
  EXPECT_EQ(other.release(), ReleaseOutcome::was_lost);
  EXPECT_TRUE(all_back("3"));
}

TEST_F(Leased, ALossIsToldLongBeforeTheNextRenewal) {
  Config settings = config();
  settings.lease = 60s;
  const Client client(settings);
  EXPECT_TRUE(semaphore(client).init(3));
  Hold renewed = semaphore(client).acquire(), fixed = semaphore(client).acquire({.lease = holdfast::fixed(60s)});
  ASSERT_TRUE(eventually([&] { return client.counters().watched == 2; }));
  Hold other = semaphore(client).acquire();
  semaphore(client).force_release(renewed.owner());
  EXPECT_TRUE(eventually([&] { return renewed.lost_token().stop_requested(); }, 5s));
  semaphore(client).force_release(fixed.owner());
  EXPECT_TRUE(eventually([&] { return fixed.lost_token().stop_requested(); }, 5s));
  EXPECT_FALSE(other.is_lost());
}

TEST_F(Leased, PermitsOfAProcessThatIsKilledComeBackWithTheirLeases) {
  Taker taker(Taker::Place::own_process);
  taker.connect(server.url(), {"kind=leased", "lease_ms=2000"});
  const Client client(config());
  EXPECT_TRUE(semaphore(client).init(2));
  for (const int thread : {1, 2}) Party(taker, thread).lock(name);
  EXPECT_EQ(semaphore(client).available(), 0);
  auto waiting = start(semaphore(client).with_permits(2));
  ASSERT_TRUE(listened());
  const auto took = duration_of([&] {
    taker.signal(SIGKILL);
    waiting.wait();
  });
  EXPECT_LT(took, 3500ms) << "a lease, and not the minute of a safety poll";
  EXPECT_EQ(waiting.get().release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("2"));
}

TEST_F(Leased, AClientThatIsClosedGivesItsPermitsBackAtOnce) {
  const Client client(config());
  EXPECT_TRUE(semaphore(client).init(2));
  const Client closing(config());
  const Hold hold = semaphore(closing).with_permits(2).acquire();
  closing.close();
  EXPECT_TRUE(hold.is_lost());
  EXPECT_EQ(semaphore(client).available(), 2);
}

// ---- holds that travel ----

TEST_F(Leased, SeveralPermitsAreAdoptedByAnyHandleAndKeptToTheirNumber) {
  const Client here(config()), there(config());
  EXPECT_TRUE(semaphore(here).init(5));
  const std::string ticket = semaphore(here).with_permits(3).acquire({.lease = fixed(1min)}).detach();
  Hold adopted = semaphore(there).adopt(ticket, {.lease = renewed(600ms)});
  EXPECT_TRUE(eventually([&] { return there.counters().renewals >= 4; }));
  EXPECT_FALSE(adopted.is_lost());
  EXPECT_EQ(held(), 3) << "all of them are renewed";
  EXPECT_EQ(adopted.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("5"));
}

TEST_F(Leased, AnIdOfRedissonsIsTakenUpByATicketThatIsMadeOfIt) {
  const Client client(config());
  const std::string id = "00112233445566778899aabbccddeeff";
  std::string bytes;
  for (unsigned i = 0; i < 16; ++i) bytes.push_back(static_cast<char>(i * 0x11));
  raw.command("SET", name, "0");
  raw.command("ZADD", leases, "922337203685477", bytes);  // without an end
  const auto ticket = [&](const std::string& owner) {
    return Ticket{Ticket::Kind::permit, name, owner, std::nullopt, 1min}.text();
  };
  Hold hold = semaphore(client).adopt(ticket(id), {.lease = fixed(1min)});
  EXPECT_EQ(hold.owner(), id);
  hold.extend(1h);
  EXPECT_GT(hold.valid_for(), 55min);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("1"));
  EXPECT_EQ(error_of([&] { return semaphore(client).adopt(ticket(id)); })->code(), code(Errc::lost));
  for (const char* odd : {"me", "00112233445566778899aabbccddeeff,"}) {
    EXPECT_EQ(error_of([&] { return semaphore(client).adopt(ticket(odd)); })->code(), code(Errc::invalid_argument));
  }
}

// ---- never more than there are, and none is lost ----

TEST_F(Leased, APermitIsPassedOnInsideAClientAndNeverToTwo) {
  const Client client(config());
  EXPECT_TRUE(semaphore(client).init(2));
  std::atomic<int> having{0}, most{0};
  std::vector<std::future<void>> callers;
  for (int i = 0; i < 8; ++i) {
    callers.push_back(in_thread([&] {
      for (int round = 0; round < 200; ++round) {
        const Hold hold = semaphore(client).acquire({.wait = 20s});
        const int now = ++having;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
        --having;
      }
    }));
  }
  for (auto& caller : callers) caller.get();
  EXPECT_LE(most, 2);
  EXPECT_EQ(client.counters().granted, 8U * 200U);
  EXPECT_GT(client.counters().local_handoffs, 0U);
  EXPECT_TRUE(all_back("2"));
}

TEST_F(Leased, UnderLoadThereAreNeverMoreThanThereShouldBeAndInTheEndAllAreBack) {
  constexpr int kPermits = 5;
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(config());
  EXPECT_TRUE(semaphore(clients.front()).init(kPermits));
  std::atomic<int> having{0}, most{0};
  std::atomic<int> granted{0};
  std::vector<std::future<void>> callers;
  for (int i = 0; i < 16; ++i) {
    callers.push_back(in_thread([&, i] {
      std::mt19937 chance(static_cast<unsigned>(i));
      for (int round = 0; round < 40; ++round) {
        const int permits = 1 + static_cast<int>(chance() % 3);
        const LeasedSemaphore some =
            semaphore(clients[static_cast<std::size_t>(i % 4)]).with_permits(static_cast<std::uint32_t>(permits));
        MaybeHold hold = some.try_acquire({.wait = milliseconds(chance() % 3 == 0 ? 5 : 20'000)});
        if (!hold) continue;
        ++granted;
        const int now = having += permits;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
        std::this_thread::sleep_for(std::chrono::microseconds(chance() % 800));
        having -= permits;
      }
    }));
  }
  for (auto& caller : callers) caller.get();
  EXPECT_GT(granted, 300);
  EXPECT_LE(most, kPermits);
  EXPECT_GE(most, 3) << "they did have them at the same time";
  EXPECT_TRUE(all_back(std::to_string(kPermits)));
}

}  // namespace
}  // namespace holdfast::test::leased_semaphore_test
