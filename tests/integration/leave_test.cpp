// SPDX-License-Identifier: Apache-2.0
// Hold::leave(): the hold ends, and the lock stays taken for a while.
#include "faults.hpp"

namespace holdfast::test::leave_test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::Le;
using testing::Optional;

class Leave : public Faults {
 protected:
  long long left_of(const std::string& name) { return raw.command("PTTL", name).integer; }
};

TEST_F(Leave, TheLockStaysTakenForAsLongAsIsAskedAndIsNotRenewed) {
  Client client(config());
  for (const auto lease : {600ms, 3'600'000ms}) {
    Hold hold = client.lock("orders").acquire({.lease = renewed(lease)});
    const std::string owner = hold.owner();
    const auto before = client.counters().commands;
    EXPECT_EQ(hold.leave(60s), ReleaseOutcome::left);
    EXPECT_EQ(client.counters().commands, before + 1);
    EXPECT_FALSE(hold);
    EXPECT_EQ(hold.valid_for(), 0ms);
    EXPECT_EQ(hold.loss_reason(), std::nullopt);
    EXPECT_THAT(raw.hgetall("orders"), HeldBy(owner));
    EXPECT_THAT(left_of("orders"), AllOf(Gt(0), Le(60'000)));
    EXPECT_EQ(client.lock("orders").try_acquire(), std::nullopt) << "for this client too";
    EXPECT_EQ(hold.leave(60s), ReleaseOutcome::left) << "a second call returns the first outcome";
    raw.command("DEL", "orders");
  }
}

TEST_F(Leave, WhoWaitsGetsItWhenThatTimeIsOver) {
  Client client(config());
  Client other(config());
  Hold hold = client.lock("orders").acquire({.lease = renewed(1h)});
  auto here = in_thread([&] { return client.lock("orders").acquire().release(); });
  auto elsewhere = in_thread([&] { return other.lock("orders").acquire().release(); });
  EXPECT_TRUE(listeners(raw, "orders", 1));
  EXPECT_EQ(hold.leave(300ms), ReleaseOutcome::left);
  ASSERT_TRUE(ready(here));
  ASSERT_TRUE(ready(elsewhere));
}

TEST_F(Leave, WithoutATimeItIsARelease) {
  Client client(config());
  Hold hold = client.lock("orders").acquire();
  EXPECT_EQ(hold.leave(0ms), ReleaseOutcome::released);
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_EQ(Hold().leave(1s), ReleaseOutcome::empty);
}

TEST_F(Leave, WhatIsSomebodyElsesIsLeftAlone) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = fixed(1min)});
  raw.command("DEL", "orders");
  EXPECT_EQ(hold.leave(60s), ReleaseOutcome::was_lost);
  EXPECT_THAT(hold.loss_reason(), Optional(LossReason::taken));
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(Leave, ASilentServerMakesItUnknownAndTheLeaseStandsAsItWas) {
  Config settings = config();
  settings.timing.release_timeout = 100ms;
  Client client(settings);
  Hold hold = client.lock("orders").acquire({.lease = fixed(1h)});
  server.freeze();
  EXPECT_EQ(hold.leave(60s), ReleaseOutcome::unknown);
  server.thaw();
  EXPECT_TRUE(raw.exists("orders"));
}

TEST_F(Leave, SeveralAreLeftTogetherAndOnAMajority) {
  Client client(config());
  EXPECT_EQ(client.multi_lock({"a", "b"}).acquire({.lease = renewed(1h)}).leave(60s), ReleaseOutcome::left);
  EXPECT_THAT(left_of("a"), AllOf(Gt(0), Le(60'000)));
  EXPECT_THAT(left_of("b"), AllOf(Gt(0), Le(60'000)));

  RedisServer second, third;
  Client on_second(quick_config(second.url())), on_third(quick_config(third.url()));
  RedLock majority({client.lock("job"), on_second.lock("job"), on_third.lock("job")});
  Hold hold = majority.acquire({.lease = renewed(1h)});
  ASSERT_TRUE(eventually([&] { return Raw(third).exists("job"); })) << "two are enough for the acquire";
  Raw(third).command("DEL", "job");
  EXPECT_EQ(hold.leave(60s), ReleaseOutcome::left);
  EXPECT_THAT(left_of("job"), AllOf(Gt(0), Le(60'000)));
  EXPECT_THAT(Raw(second).command("PTTL", "job").integer, AllOf(Gt(0), Le(60'000)));
  EXPECT_FALSE(Raw(third).exists("job")) << "what has lost it is not healed for a hold that has ended";
}

TEST_F(Leave, AClosedClientHasNothingMoreToLeave) {
  Client client(config());
  Hold hold = client.simple_lock("orders").acquire();
  client.close();
  EXPECT_NE(hold.leave(60s), ReleaseOutcome::left);
  EXPECT_FALSE(raw.exists("orders"));
}

}  // namespace
}  // namespace holdfast::test::leave_test
