// SPDX-License-Identifier: Apache-2.0
// SpinLock and Redisson's RSpinLock, and either with a plain lock of the other side: one lock, of which nobody is told.
#include "counting.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::spin_test {
namespace {

class Spinning : public Counting {
 protected:
  Spinning() { set("kind", "spin"); }

  void expect_exclusion() {
    holder().lock("orders", 20s);
    EXPECT_FALSE(other().try_lock("orders"));
    EXPECT_FALSE(other().try_lock("orders", 300ms));
    EXPECT_EQ(other().unlock("orders"), "not_owner");
    EXPECT_EQ(holder().unlock("orders"), "released");
    EXPECT_TRUE(other().try_lock("orders", kPrompt));
    EXPECT_FALSE(holder().try_lock("orders"));
    EXPECT_EQ(other().unlock("orders"), "released");
    EXPECT_FALSE(raw.exists("orders"));
  }
  /// The holder's lease is renewed, so the time to live that is left is a second at most.
  void expect_that_a_waiter_enters(milliseconds limit) {
    holder().lock("orders");
    const Pending waiting = other().start_lock("orders");
    EXPECT_FALSE(waiting.answered(500ms));
    const auto released = steady_clock::now();
    EXPECT_EQ(holder().unlock("orders"), "released");
    const Answer entered = waiting.get();
    ASSERT_TRUE(entered.ok) << entered.text;
    EXPECT_LT(entered.ended - released, limit);
    EXPECT_EQ(other().unlock("orders"), "released");
  }
};

/// Redisson's lock without messages.
class SpinLocks : public Spinning {
 protected:
  SpinLocks() { needs("spin", "spin lock"); }
};
HOLDFAST_INTEROP(SpinLocks, both_ways(kRedissons));

TEST_P(SpinLocks, ExcludeEachOther) { expect_exclusion(); }

TEST_P(SpinLocks, AWaiterEntersSoonAfterAReleaseThoughNobodyListens) {
  Subscriber messages(server, {"redisson_lock__channel:{orders}"});
  expect_that_a_waiter_enters(kPrompt);
  EXPECT_THAT(messages.messages(), ::testing::IsEmpty());
}

TEST_P(SpinLocks, AKilledHolderIsFollowedWhenItsLeaseEnds) {
  const Standstill still;
  holder().lock("orders");
  const Pending waiting = other().start_lock("orders");
  EXPECT_FALSE(waiting.answered(200ms));
  kill(holder().taker());
  const auto looked = steady_clock::now();
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LE(entered.ended, looked + kLease + 500ms + still.total());
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(SpinLocks, LoseNoUpdate) { expect_exclusion_and_progress(two_processes_each(2, "orders")); }

/// Redisson's plain lock and ours without messages.
class SpinLockAndRLock : public Spinning {
 protected:
  SpinLockAndRLock() { set_of_peer("kind", "lock"); }
};
HOLDFAST_INTEROP(SpinLockAndRLock, both_ways(kRedissons));

TEST_P(SpinLockAndRLock, ExcludeEachOther) { expect_exclusion(); }
/// Redisson's waiter is told nothing, and asks when the lease that it saw is over.
TEST_P(SpinLockAndRLock, AWaiterEntersWhenTheLeaseIsOverAtTheLatest) { expect_that_a_waiter_enters(kLease + kPrompt); }

/// Redisson's lock without messages and our plain one, whose waiter finds a release with its safety poll.
class RSpinLockAndLock : public SpinLocks {
 protected:
  RSpinLockAndLock() {
    set("kind", "lock");
    set("safety_poll_ms", 1s);
    set_of_peer("kind", "spin");
  }
};
HOLDFAST_INTEROP(RSpinLockAndLock, both_ways(kRedissons));

TEST_P(RSpinLockAndLock, ExcludeEachOther) { expect_exclusion(); }
TEST_P(RSpinLockAndLock, AWaiterEntersSoonAfterARelease) { expect_that_a_waiter_enters(kPrompt); }

class NonReentrantLocks : public Spinning {
 protected:
  NonReentrantLocks() {
    needs("non_reentrant", "non-reentrant lock");
    set("kind", "non_reentrant");
  }
};
HOLDFAST_INTEROP(NonReentrantLocks, both_ways(kRedissons));

TEST_P(NonReentrantLocks, ExcludeEachOther) { expect_exclusion(); }
TEST_P(NonReentrantLocks, AWaiterEntersSoonAfterARelease) { expect_that_a_waiter_enters(kPrompt); }

TEST_P(NonReentrantLocks, TheirOwnThreadIsRefusedAtOnceOnEitherSide) {
  holder().lock("orders", 20s);
  const Answer refused = holder().start_lock("orders").get();
  EXPECT_FALSE(refused.ok);
  EXPECT_LT(refused.ended - refused.began, kPrompt);
  EXPECT_EQ(holder().unlock("orders"), "released") << "at the first time";
}

}  // namespace
}  // namespace holdfast::test::spin_test
