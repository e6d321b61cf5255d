// SPDX-License-Identifier: Apache-2.0
// Fixed leases that are extended, and holds that go from one process to another.
#include "faults.hpp"

namespace holdfast::test::travel_test {
namespace {

using testing::_;
using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;
using testing::Optional;

class Travel : public Faults {
 protected:
  Travel() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  long long left_of(const std::string& name) { return raw.command("PTTL", name).integer; }
};

// --- extend ---

TEST_F(Travel, AFixedLeaseIsSetAnew) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = fixed(2s)});
  const auto before = client.counters().commands;
  hold.extend(1min);
  EXPECT_EQ(client.counters().commands, before + 1);
  EXPECT_GT(hold.valid_for(), 55s);
  EXPECT_THAT(left_of("orders"), AllOf(Gt(55'000), Le(60'000)));
  hold.extend(1s);
  EXPECT_THAT(hold.valid_for(), AllOf(Gt(0ms), Le(988ms))) << "shorter as well";
  EXPECT_THAT(left_of("orders"), Le(1000));
  EXPECT_TRUE(eventually([&] { return hold.is_lost(); }, 5s)) << "it is looked at when the new lease ends";
  EXPECT_THAT(hold.loss_reason(), Optional(LossReason::expired));
}

TEST_F(Travel, WhatIsExtendedLastsPastItsFirstEndWithoutARenewal) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = fixed(500ms)});
  hold.extend(1h);
  std::this_thread::sleep_for(800ms);
  EXPECT_FALSE(hold.is_lost());
  EXPECT_FALSE(hold.lost_token().stop_requested());
  EXPECT_EQ(client.counters().renewals, 0U);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(Travel, AnExtensionOfWhatIsSomebodyElsesSaysLost) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = fixed(1min)});
  raw.command("DEL", "orders");
  EXPECT_THAT(error_of([&] { return hold.extend(1min), 0; }), IsError(Errc::lost, "orders", client.node(), _));
  EXPECT_THAT(hold.loss_reason(), Optional(LossReason::taken));
  EXPECT_FALSE(raw.exists("orders")) << "nothing is taken";
  EXPECT_EQ(error_of([&] { return hold.extend(1min), 0; })->code(), code(Errc::lost));
}

TEST_F(Travel, AnExtensionWithoutAnAnswerLeavesTheEarlierEnd) {
  Config settings = config();
  settings.timing.command_timeout = 300ms;
  Client client(settings);
  Hold longer = client.lock("longer").acquire({.lease = fixed(20s)});
  Hold shorter = client.lock("shorter").acquire({.lease = fixed(20s)});
  server.freeze();
  EXPECT_EQ(error_of([&] { return longer.extend(1h), 0; })->code(), code(Errc::unknown_outcome));
  EXPECT_EQ(error_of([&] { return shorter.extend(10s), 0; })->code(), code(Errc::unknown_outcome));
  EXPECT_LE(longer.valid_for(), 20s);
  EXPECT_GT(longer.valid_for(), 12s);
  EXPECT_LE(shorter.valid_for(), 10s) << "the server may have done it";
  server.thaw();
}

TEST_F(Travel, OnlyAFixedLeaseOnOneServerIsExtended) {
  Client client(config());
  RedisServer second;
  Client other(config(second.url()));
  Hold renewed = client.lock("renewed").acquire();
  EXPECT_EQ(error_of([&] { return renewed.extend(1min), 0; })->code(), code(Errc::invalid_argument));
  Hold several = MultiLock({client.lock("a"), other.lock("b")}).acquire({.lease = fixed(1min)});
  EXPECT_EQ(error_of([&] { return several.extend(1min), 0; })->code(), code(Errc::invalid_argument));
  Hold hold = client.lock("orders").acquire({.lease = fixed(1min)});
  EXPECT_EQ(error_of([&] { return hold.extend(9ms), 0; })->code(), code(Errc::invalid_argument));
  EXPECT_EQ(error_of([&] { return Hold().extend(1min), 0; })->code(), code(Errc::not_owner));
  Hold all = client.multi_lock({"x", "y"}).acquire({.lease = fixed(1s)});
  all.extend(1min);
  EXPECT_THAT(left_of("y"), Gt(55'000));
  client.close();
  EXPECT_EQ(error_of([&] { return hold.extend(1min), 0; })->code(), code(Errc::lost));
}

// --- detach and adopt ---

TEST_F(Travel, AHoldGoesFromOneClientToAnother) {
  Client here(config());
  Client there(config());
  const std::vector<std::pair<KeyLock, KeyLock>> kinds{
      {here.lock("plain"), there.lock("plain")},
      {here.fenced_lock("fenced"), there.fenced_lock("fenced")},
      {here.fair_lock("fair"), there.fair_lock("fair")},
      {here.simple_lock("simple"), there.simple_lock("simple")},
      {here.leased_semaphore("permit"), there.leased_semaphore("permit")},
      {here.leased_semaphore("permits").with_permits(2), there.leased_semaphore("permits").with_permits(2)}};
  EXPECT_TRUE(here.leased_semaphore("permit").init(1));
  EXPECT_TRUE(here.leased_semaphore("permits").init(2));
  for (const auto& [mine, theirs] : kinds) {
    Hold hold = mine.acquire({.lease = renewed(30s)});
    const std::string owner = hold.owner();
    const std::optional<std::int64_t> token = hold.token();
    const auto before = here.counters().commands;
    const std::string ticket = hold.detach();
    EXPECT_EQ(here.counters().commands, before) << "nothing is sent";
    EXPECT_FALSE(hold);
    EXPECT_EQ(hold.valid_for(), 0ms);
    EXPECT_EQ(hold.release(), ReleaseOutcome::left) << "which is all that is done";
    EXPECT_EQ(here.counters().holding, 0U);
    EXPECT_TRUE(mine.is_held_by(owner));

    Hold again = theirs.adopt(ticket);
    EXPECT_EQ(again.owner(), owner);
    EXPECT_EQ(again.token(), token);
    EXPECT_GT(again.valid_for(), 25s);
    EXPECT_EQ(there.counters().holding, 1U);
    EXPECT_EQ(theirs.try_acquire(), std::nullopt);
    EXPECT_EQ(again.release(), ReleaseOutcome::released);
    EXPECT_FALSE(mine.is_locked());
  }
  EXPECT_EQ(log->count("lost"), 0U);
}

TEST_F(Travel, WhatIsDetachedIsNotRenewedAndEndsWithItsLease) {
  std::string ticket;
  {
    Client client(config());
    Hold hold = client.lock("orders").acquire({.lease = renewed(900ms)});
    ticket = hold.detach();
    EXPECT_TRUE(raw.exists("orders"));
    EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }, 5s)) << "three renewals would have come";
    EXPECT_EQ(client.counters().renewals, 0U);
    hold = client.lock("orders").acquire({.wait = 5s, .lease = renewed(1h)});
    ticket = hold.detach();
  }
  EXPECT_TRUE(raw.exists("orders")) << "the end of hold and client releases nothing";
  EXPECT_EQ(Ticket::parse(ticket).name, "orders");
}

TEST_F(Travel, WhatIsAdoptedIsRenewedAgain) {
  Client here(config());
  Client there(config());
  const std::string ticket = here.lock("orders").acquire({.lease = fixed(2s)}).detach();
  Hold hold = there.lock("orders").adopt(ticket, {.lease = renewed(600ms)});
  EXPECT_LE(left_of("orders"), 600);
  EXPECT_TRUE(eventually([&] { return there.counters().renewals >= 5; }));
  EXPECT_FALSE(hold.is_lost());
  raw.command("DEL", "orders");
  EXPECT_TRUE(eventually([&] { return hold.is_lost(); })) << "and it learns of a loss";
}

TEST_F(Travel, ATicketWhoseLockIsGoneSaysLost) {
  Client client(config());
  const std::string gone = client.lock("orders").acquire().detach();
  raw.command("DEL", "orders");
  const Hold taken = client.lock("orders").acquire();
  EXPECT_THAT(error_of([&] { return client.lock("orders").adopt(gone); }),
              IsError(Errc::lost, "orders", client.node(), HasSubstr("not this owner's")));
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(taken.owner()));
  EXPECT_EQ(client.counters().holding, 1U);
}

TEST_F(Travel, ATicketIsForItsOwnLockOnly) {
  Client client(config());
  const std::string ticket = client.lock("orders").acquire().detach();
  for (const KeyLock& other :
       std::vector<KeyLock>{client.lock("others"), client.fenced_lock("orders"), client.simple_lock("orders"),
                            client.read_write_lock("orders").writer()}) {
    EXPECT_EQ(error_of([&] { return other.adopt(ticket); })->code(), code(Errc::invalid_argument));
  }
  EXPECT_EQ(error_of([&] { return client.lock("orders").adopt(ticket + "x"); })->code(), code(Errc::invalid_argument));
  EXPECT_EQ(client.lock("orders").adopt(ticket).release(), ReleaseOutcome::released) << "it is as good as before";
}

TEST_F(Travel, AnAdoptionWithoutAnAnswerMayBeTriedAgain) {
  Config settings = config();
  settings.timing.command_timeout = 300ms;
  Client client(settings);
  const std::string ticket = client.lock("orders").acquire({.lease = renewed(1min)}).detach();
  server.freeze();
  EXPECT_EQ(error_of([&] { return client.lock("orders").adopt(ticket); })->code(), code(Errc::unknown_outcome));
  EXPECT_EQ(client.counters().holding, 0U);
  server.thaw();
  EXPECT_EQ(client.lock("orders").adopt(ticket).release(), ReleaseOutcome::released);
  EXPECT_EQ(log->count("lost"), 0U);
}

TEST_F(Travel, HoldsOfOtherKindsStayWhereTheyAre) {
  Client client(config());
  Hold reader = client.read_write_lock("data").reader().acquire();
  Hold writer = client.read_write_lock("page").writer().acquire();
  Hold several = client.multi_lock({"a", "b"}).acquire();
  for (Hold* hold : {&reader, &writer, &several}) {
    EXPECT_EQ(error_of([&] { return hold->detach(); })->code(), code(Errc::invalid_argument));
    EXPECT_EQ(hold->release(), ReleaseOutcome::released);
  }
  EXPECT_EQ(error_of([&] { return Hold().detach(); })->code(), code(Errc::not_owner));
}

TEST_F(Travel, WhatIsLostCannotBeDetached) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = fixed(50ms)});
  EXPECT_TRUE(eventually([&] { return hold.is_lost(); }));
  EXPECT_EQ(error_of([&] { return hold.detach(); })->code(), code(Errc::lost));
}

TEST_F(Travel, WhoWaitsHereGetsItOnlyWhenTheOtherReleases) {
  Client here(config());
  Client there(config());
  Hold hold = here.lock("orders").acquire({.lease = renewed(1h)});
  auto waiter = in_thread([&] { return here.lock("orders").acquire().owner(); });
  ASSERT_TRUE(eventually([&] { return here.counters().waiting == 1; }));
  const std::string ticket = hold.detach();
  EXPECT_FALSE(ready(waiter, 200ms)) << "it is not passed on";
  Hold adopted = there.lock("orders").adopt(ticket);
  adopted.release();
  EXPECT_TRUE(ready(waiter));
}

}  // namespace
}  // namespace holdfast::test::travel_test
