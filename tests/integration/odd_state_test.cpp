// SPDX-License-Identifier: Apache-2.0
// Data that somebody else has changed: keys of another type, emptied databases, forgotten scripts.
#include "faults.hpp"
#include "support/standstill.hpp"
#include "support/tried.hpp"

namespace holdfast::test::odd_state_test {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OddState : public Faults {
 protected:
  OddState() : client(config()) {}

  std::string value_of(const std::string& key) { return raw.command("GET", key).text; }

  /// While somebody else waits for the lock, something that is none takes its place.
  template <class Replace>
  void expect_that_a_waiter_hears(const std::string& words, Replace&& replace) {
    Config settings = config();
    settings.timing.safety_poll = 200ms;
    Client other(settings);
    const Hold hold = client.lock("orders").acquire();
    auto waiting = in_thread([&] { return error_of([&] { return other.lock("orders").acquire(); }); });
    ASSERT_TRUE(listeners(raw, "orders"));
    replace();
    EXPECT_THAT(waiting.get(), IsError(Errc::wrong_type, "orders", client.node(), HasSubstr(words)));
  }

  Client client;
};

// --- Keys of another type ---

TEST_F(OddState, AKeyOfAnotherTypeIsToldByEveryCallAndLeftAlone) {
  Lock lock = client.lock("orders");
  const auto said = IsError(Errc::wrong_type, "orders", client.node(), HasSubstr("WRONGTYPE"));
  const std::vector<std::vector<std::string>> writes{{"SET", "orders", "x"},
                                                     {"LPUSH", "orders", "x"},
                                                     {"SADD", "orders", "x"},
                                                     {"ZADD", "orders", "1", "x"},
                                                     {"XADD", "orders", "*", "f", "x"}};
  for (const std::vector<std::string>& write : writes) {
    raw.send(write);
    const std::string before = raw.command("DUMP", "orders").text;
    EXPECT_THAT(error_of([&] { return lock.acquire(); }), said);
    EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 1min}); }), said);
    EXPECT_THAT(error_of([&] { return lock.try_acquire(); }), said);
    EXPECT_THAT(error_of([&] { return lock.try_lock(); }), said);
    EXPECT_THAT(error_of([&] { return lock.try_lock_for(1min); }), said);
    EXPECT_THAT(error_of([&] { return lock.force_release(); }), said);
    EXPECT_THAT(error_of([&] { return lock.is_locked(); }), said);
    EXPECT_THAT(error_of([&] { return lock.is_held_by("x"); }), said);
    EXPECT_THAT(error_of([&] { return lock.info(); }), said);
    std::error_code error;
    EXPECT_EQ(tried(lock, {}, error), std::nullopt);
    EXPECT_EQ(error, Errc::wrong_type);
    EXPECT_EQ(raw.command("DUMP", "orders").text, before);
    EXPECT_EQ(raw.pttl("orders"), -1);
    EXPECT_THAT(client.list(), IsEmpty());
    raw.flushall();
  }
}

TEST_F(OddState, AHoldWhoseKeyIsReplacedByAnotherTypeIsLostAtTheNextRenewal) {
  const Standstill still;
  Hold hold = client.lock("orders").acquire({.lease = renewed(900ms)});
  raw.command("SET", "orders", "mine now");
  const auto replaced = steady_clock::now();
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_LT(steady_clock::now() - replaced, 850ms + still.total());
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("lost"), ElementsAre("taken"));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_EQ(value_of("orders"), "mine now");
}

TEST_F(OddState, AReleaseOfAHoldWhoseKeyWasReplacedSaysLostAndLeavesTheKey) {
  Hold hold = client.lock("orders").acquire({.lease = renewed(1min)});
  raw.command("SET", "orders", "mine now");
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_EQ(value_of("orders"), "mine now");
}

TEST_F(OddState, AWaiterIsToldWhenTheKeyIsReplacedByAnotherType) {
  expect_that_a_waiter_hears("WRONGTYPE", [&] { raw.command("SET", "orders", "mine now"); });
}

// --- Hashes that are no lock ---

/// What somebody else keeps under a name, and what an error calls it.
struct NoLock {
  const char* title;
  std::vector<std::string> fields;
  bool expires;
  const char* called;
};
void PrintTo(const NoLock& each, std::ostream* out) { *out << each.title; }

class OddHash : public OddState, public testing::WithParamInterface<NoLock> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, OddHash,
    testing::Values(
        NoLock{"AUser", {"name", "alice", "email", "a@x"}, false, "WRONGTYPE it is a hash of 2 fields that is no lock"},
        NoLock{"AToken", {"secret", "abc"}, false, "WRONGTYPE it is a hash of one field that is no lock"},
        NoLock{"ACounter", {"visits", "3"}, true, "WRONGTYPE it is a hash of one field that is no lock"},
        NoLock{"ThreeFields", {"name", "bob", "email", "b@x", "age", "7"}, true, "a hash of 3 fields that is no lock"},
        NoLock{"AReadLock",
               {"mode", "read", "11111111-2222-4333-8444-555555555555:1", "1"},
               true,
               "WRONGTYPE it is a read-write lock"},
        NoLock{"AWriteLock",
               {"mode", "write", "11111111-2222-4333-8444-555555555555:1:write", "1"},
               true,
               "WRONGTYPE it is a read-write lock"}),
    testing::PrintToStringParamName());

TEST_P(OddHash, IsNamedByEveryCallAndLeftAlone) {
  const NoLock& what = GetParam();
  std::vector<std::string> write{"HSET", "orders"};
  write.insert(write.end(), what.fields.begin(), what.fields.end());
  raw.send(write);
  if (what.expires) raw.command("PEXPIRE", "orders", 600'000);
  const auto before = raw.hgetall("orders");
  Lock lock = client.lock("orders");
  const auto said = IsError(Errc::wrong_type, "orders", client.node(), HasSubstr(what.called));
  EXPECT_THAT(error_of([&] { return lock.acquire(); }), said);
  EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 1min}); }), said);
  EXPECT_THAT(error_of([&] { return lock.try_acquire(); }), said);
  EXPECT_THAT(error_of([&] { return lock.try_lock(); }), said);
  EXPECT_THAT(error_of([&] { return lock.force_release(); }), said);
  for (const auto& [field, value] : before) {
    EXPECT_THAT(error_of([&, owner = field] { return lock.force_release(owner); }), said);
  }
  EXPECT_THAT(error_of([&] { return lock.is_locked(); }), said);
  EXPECT_THAT(error_of([&] { return lock.info(); }), said);
  MultiLock both = client.multi_lock({"customers", "orders"});
  EXPECT_THAT(error_of([&] { return both.acquire({.wait = 1min}); })->what(), HasSubstr("name 2 of 2 is "));
  EXPECT_FALSE(raw.exists("customers"));
  EXPECT_EQ(raw.hgetall("orders"), before);
  EXPECT_EQ(raw.pttl("orders") > 0, what.expires);
}

TEST_P(OddHash, IsNotListed) {
  std::vector<std::string> write{"HSET", "orders"};
  write.insert(write.end(), GetParam().fields.begin(), GetParam().fields.end());
  raw.send(write);
  EXPECT_EQ(client.list().size(), 0U);
}

TEST_F(OddState, ALockWithoutAnExpiryIsShownAndTakenByForceAndWaitedForByNobody) {
  const std::string owner = "11111111-2222-4333-8444-555555555555:1";
  const auto said = IsError(Errc::wrong_type, "orders", client.node(),
                            HasSubstr("it is a lock of " + owner + " without an expiry, so nothing ends it"));
  const Lock plain = client.lock("orders");
  const FencedLock fenced = client.fenced_lock("orders");
  const FairLock fair = client.fair_lock("orders");
  const SpinLock spin = client.spin_lock("orders");
  for (const KeyLock* lock : std::initializer_list<const KeyLock*>{&plain, &fenced, &fair, &spin}) {
    raw.command("HSET", "orders", owner, 1);
    EXPECT_THAT(error_of([&] { return lock->acquire({.wait = 1min}); }), said);
    const LockInfo info = lock->info();
    EXPECT_EQ(info.owner, owner);
    EXPECT_EQ(info.remaining, std::nullopt);
    EXPECT_TRUE(lock->is_locked());
    EXPECT_EQ(client.list().size(), 1U);
    EXPECT_FALSE(lock->force_release("22222222-2222-4333-8444-555555555555:1"));
    EXPECT_TRUE(raw.exists("orders"));
    EXPECT_TRUE(lock->force_release(owner));
    EXPECT_FALSE(raw.exists("orders"));
    raw.command("HSET", "orders", owner, 1);
    EXPECT_TRUE(lock->force_release());
    EXPECT_FALSE(raw.exists("orders"));
  }
}

TEST_F(OddState, AWaiterIsToldWhenTheLockIsReplacedByAHashThatIsNone) {
  expect_that_a_waiter_hears("a hash of one field", [&] {
    raw.command("DEL", "orders");
    raw.command("HSET", "orders", "colour", "red");
  });
}

TEST_F(OddState, AHoldBesideWhichSomebodyWroteAFieldIsReleasedAndTheFieldStays) {
  Hold hold = client.lock("orders").acquire({.lease = renewed(1min)});
  raw.command("HSET", "orders", "colour", "red");
  EXPECT_THAT(error_of([&] { return client.lock("orders").force_release(); }),
              IsError(Errc::wrong_type, "orders", client.node(), HasSubstr("a hash of 2 fields")));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_THAT(raw.hgetall("orders"), ElementsAre(testing::Pair("colour", "red")));
}

// --- Emptied ---

TEST_F(OddState, AFlushIsNoticedAtTheNextRenewalAndAWaiterGetsIn) {
  Config settings = config();
  settings.timing.safety_poll = 300ms;
  Client other(settings);
  Hold hold = client.lock("orders").acquire({.lease = renewed(900ms)});
  auto waiting = in_thread([&] { return other.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  raw.flushall();
  ASSERT_TRUE(ready(waiting));
  const Hold next = waiting.get();
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("lost"), ElementsAre("taken"));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(next.owner()));
  EXPECT_EQ(other.counters().safety_poll_wakes, 1U) << "no message told of it";
}

TEST_F(OddState, AForceReleaseIsNoticedAtTheNextRenewal) {
  const Standstill still;
  Client other(config());
  Hold hold = client.lock("orders").acquire({.lease = renewed(900ms)});
  EXPECT_TRUE(other.lock("orders").force_release());
  EXPECT_FALSE(other.lock("orders").force_release());
  const auto forced = steady_clock::now();
  const Hold next = other.lock("orders").acquire();
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_LT(steady_clock::now() - forced, 850ms + still.total());
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("lost"), ElementsAre("taken"));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(next.owner()));
}

TEST_F(OddState, AnExpiryThatSomebodyTookAwayIsSetAgainByTheNextRenewal) {
  const Hold hold = client.lock("orders").acquire({.lease = renewed(600ms)});
  raw.command("PERSIST", "orders");
  EXPECT_TRUE(eventually([&] { return raw.pttl("orders") >= 0; }));
}

// --- Forgotten scripts ---

TEST_F(OddState, ScriptsAreSentAgainWheneverTheServerForgetsThem) {
  Client other(config());
  const auto forget = [&] { raw.command("SCRIPT", "FLUSH"); };
  Hold hold = client.lock("orders").acquire({.lease = renewed(600ms)});
  forget();
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 2; }));
  auto waiting = in_thread([&] { return other.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  forget();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  ASSERT_TRUE(ready(waiting));
  forget();
  EXPECT_TRUE(client.lock("orders").force_release());
  forget();
  EXPECT_TRUE(client.lock("orders").try_acquire());
  EXPECT_EQ(client.counters().renewal_failures, 0U);
  EXPECT_EQ(client.counters().unknown, 0U);
}

TEST_F(OddState, ScriptsThatAreForgottenAllTheTimeCostNothingButTime) {
  std::jthread flusher([&](const std::stop_token& stop) {
    Raw own(server);
    while (!stop.stop_requested()) own.command("SCRIPT", "FLUSH");
  });
  Hold kept = client.lock("kept").acquire({.lease = renewed(600ms)});
  for (int i = 0; i < 200; ++i) {
    Hold hold = client.lock("orders").acquire();
    EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  }
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 3; }));
  EXPECT_EQ(kept.release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::odd_state_test
