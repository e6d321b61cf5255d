// SPDX-License-Identifier: Apache-2.0
// Limits on how many calls of a client wait: who comes when there is no room is refused at once.
#include "faults.hpp"

namespace holdfast::test::crowded_test {
namespace {

using testing::HasSubstr;

class Crowded : public Faults {
 protected:
  /// A caller of this client who waits for the lock.
  template <class AnyLock>
  std::future<Hold> wait(Client& of, const AnyLock& lock) {
    const auto before = of.counters().waiting;
    auto waiting = in_thread([&lock] { return lock.acquire(); });
    EXPECT_TRUE(eventually([&] { return of.counters().waiting == before + 1; }));
    return waiting;
  }

  Client client{config()};
  Client other{config()};
};

TEST_F(Crowded, ACallThatFindsNoRoomAmongTheWaitersOfALockIsRefusedAtOnce) {
  Hold held = other.lock("orders").acquire();
  const Lock lock = client.lock("orders", {.max_waiters = 1});
  std::future<Hold> waiting = wait(client, lock);
  EXPECT_THAT(error_of([&] { return lock.acquire(); }),
              IsError(Errc::crowded, "orders", client.node(), HasSubstr("wait for this lock: 1 (max_waiters)")));
  EXPECT_EQ(client.counters().waiting, 1U);
  held.release();
  EXPECT_EQ(waiting.get().release(), ReleaseOutcome::released);
  EXPECT_EQ(lock.acquire().release(), ReleaseOutcome::released);
  EXPECT_EQ(client.counters().not_granted, 1U);
}

TEST_F(Crowded, ACallBehindOneOfItsOwnClientIsRefusedToo) {
  const Lock lock = client.lock("orders", {.max_waiters = 1});
  Hold held = lock.acquire();
  std::future<Hold> waiting = wait(client, lock);
  EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 1min}); }),
              IsError(Errc::crowded, "orders", client.node(), HasSubstr("max_waiters")));
  held.release();
  EXPECT_EQ(waiting.get().release(), ReleaseOutcome::released);
}

TEST_F(Crowded, WithRoomForNobodyAFreeLockIsGrantedAllTheSame) {
  const Lock lock = client.lock("orders", {.max_waiters = 0});
  lock.acquire().release();
  const Hold held = other.lock("orders").acquire();
  EXPECT_THAT(error_of([&] { return lock.acquire(); }),
              IsError(Errc::crowded, "orders", client.node(), HasSubstr("this lock: 0")));
}

TEST_F(Crowded, WhoOnlyAsksOnceHearsThatItIsBusy) {
  const Hold held = other.lock("orders").acquire();
  const std::optional<Hold> tried = client.lock("orders", {.max_waiters = 0}).try_acquire();
  EXPECT_FALSE(tried);
}

TEST_F(Crowded, ALimitOfTheClientCountsTheWaitersOfAllLocks) {
  Config settings = config();
  settings.max_waiters = 2;
  Client bounded(settings);
  Hold orders = other.lock("orders").acquire();
  Hold bills = other.lock("bills").acquire();
  const Lock its_orders = bounded.lock("orders");
  const Lock its_bills = bounded.lock("bills");
  std::future<Hold> first = wait(bounded, its_orders);
  std::future<Hold> second = wait(bounded, its_bills);
  EXPECT_THAT(error_of([&] { return its_orders.acquire(); }),
              IsError(Errc::crowded, "orders", bounded.node(), HasSubstr("for locks: 2 (Config::max_waiters)")));
  EXPECT_EQ(bounded.lock("free").acquire().release(), ReleaseOutcome::released);
  orders.release();
  bills.release();
  EXPECT_EQ(first.get().release(), ReleaseOutcome::released);
  EXPECT_EQ(second.get().release(), ReleaseOutcome::released);
}

TEST_F(Crowded, LeavesTheQueueOfAFairLock) {
  Hold held = other.fair_lock("orders").acquire();
  const FairLock lock = client.fair_lock("orders", {.max_waiters = 0});
  EXPECT_THAT(error_of([&] { return lock.acquire(); }),
              IsError(Errc::crowded, "orders", client.node(), HasSubstr("max_waiters")));
  EXPECT_TRUE(eventually([&] { return !raw.exists("redisson_lock_queue:{orders}"); }));
  held.release();
  EXPECT_EQ(other.fair_lock("orders").acquire().release(), ReleaseOutcome::released);
}

TEST_F(Crowded, IsMeasuredAsAResultOfItsOwn) {
  const Hold held = other.lock("orders").acquire();
  EXPECT_THROW(static_cast<void>(client.lock("orders", {.max_waiters = 0}).acquire()), Error);
  const Metrics metrics = client.metrics();
  for (const Metric& metric : metrics.find("holdfast_acquire_wait_seconds")->metrics) {
    const bool crowded = metric.labels.back().value == "crowded";
    std::uint64_t count = 0;
    for (const std::uint64_t each : metric.buckets) count += each;
    EXPECT_EQ(count, crowded ? 1U : 0U) << metric.labels.back().value;
  }
}

}  // namespace
}  // namespace holdfast::test::crowded_test
