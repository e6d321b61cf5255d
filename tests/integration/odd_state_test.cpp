// Data that somebody else has changed: keys of another type, emptied databases, forgotten scripts.
#include "faults.hpp"

namespace holdfast::test {
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
    EXPECT_EQ(lock.try_acquire({}, error), std::nullopt);
    EXPECT_EQ(error, Errc::wrong_type);
    EXPECT_EQ(raw.command("DUMP", "orders").text, before);
    EXPECT_EQ(raw.pttl("orders"), -1);
    EXPECT_THAT(client.list(), IsEmpty());
    raw.flushall();
  }
}

TEST_F(OddState, AHoldWhoseKeyIsReplacedByAnotherTypeIsLostAtTheNextRenewal) {
  Hold hold = client.lock("orders").acquire({.lease = renewed(900ms)});
  raw.command("SET", "orders", "mine now");
  const auto replaced = steady_clock::now();
  EXPECT_TRUE(eventually([&] { return hold.lost().stop_requested(); }));
  EXPECT_LT(steady_clock::now() - replaced, 850ms);
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
  Config settings = config();
  settings.safety_poll = 200ms;
  Client other(settings);
  const Hold hold = client.lock("orders").acquire();
  auto waiting = in_thread([&] { return error_of([&] { return other.lock("orders").acquire(); }); });
  ASSERT_TRUE(listeners(raw, "orders"));
  raw.command("SET", "orders", "mine now");
  EXPECT_THAT(waiting.get(), IsError(Errc::wrong_type, "orders", client.node(), HasSubstr("WRONGTYPE")));
}

TEST_F(OddState, AHashThatIsNoLockIsTakenForOneThatIsHeld) {
  raw.command("HSET", "orders", "colour", "red");
  EXPECT_EQ(client.lock("orders").try_acquire(), std::nullopt);
  EXPECT_EQ(client.lock("orders").try_acquire({.wait = 100ms}), std::nullopt);
  EXPECT_TRUE(client.lock("orders").is_locked());
  EXPECT_EQ(client.lock("orders").remaining(), std::nullopt);
  EXPECT_THAT(client.list(), IsEmpty()) << "its field does not look like an owner";
  EXPECT_THAT(raw.hgetall("orders"), ElementsAre(testing::Pair("colour", "red")));
}

// --- Emptied ---

TEST_F(OddState, AFlushIsNoticedAtTheNextRenewalAndAWaiterGetsIn) {
  Config settings = config();
  settings.safety_poll = 300ms;
  Client other(settings);
  Hold hold = client.lock("orders").acquire({.lease = renewed(900ms)});
  auto waiting = in_thread([&] { return other.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  raw.flushall();
  ASSERT_TRUE(ready(waiting));
  const Hold next = waiting.get();
  EXPECT_TRUE(eventually([&] { return hold.lost().stop_requested(); }));
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("lost"), ElementsAre("taken"));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(next.owner()));
  EXPECT_EQ(other.counters().safety_poll_wakes, 1U) << "no message told of it";
}

TEST_F(OddState, AForceReleaseIsNoticedAtTheNextRenewal) {
  Client other(config());
  Hold hold = client.lock("orders").acquire({.lease = renewed(900ms)});
  EXPECT_TRUE(other.lock("orders").force_release());
  EXPECT_FALSE(other.lock("orders").force_release());
  const auto forced = steady_clock::now();
  const Hold next = other.lock("orders").acquire();
  EXPECT_TRUE(eventually([&] { return hold.lost().stop_requested(); }));
  EXPECT_LT(steady_clock::now() - forced, 850ms);
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
}  // namespace holdfast::test
