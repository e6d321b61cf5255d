// SPDX-License-Identifier: Apache-2.0
// The two faces in C++ terms: the standard's lock requirements and guards, and the Hold object.
#include <concepts>
#include <mutex>
#include <thread>
#include <type_traits>

#include <holdfast/holdfast.hpp>

#include "conformance.hpp"
#include "support/strange_unlock.hpp"
#include "support/tried.hpp"

namespace holdfast::test::faces_test {
namespace {

template <class T>
concept BasicLockable = requires(T lock) {
  lock.lock();
  { lock.unlock() } noexcept;
};
template <class T>
concept Lockable = BasicLockable<T> && requires(T lock) {
  { lock.try_lock() } -> std::same_as<bool>;
};
template <class T>
concept TimedLockable =
    Lockable<T> && requires(T lock, std::chrono::milliseconds wait, std::chrono::system_clock::time_point time) {
      { lock.try_lock_for(wait) } -> std::same_as<bool>;
      { lock.try_lock_until(time) } -> std::same_as<bool>;
    };
static_assert(BasicLockable<Lock>);
static_assert(Lockable<Lock>);
static_assert(TimedLockable<Lock>);
static_assert(TimedLockable<const Lock> && TimedLockable<const BasicLock>);
static_assert(std::copyable<Lock>, "a Lock is a handle");
static_assert(!std::copy_constructible<Hold> && std::is_nothrow_move_constructible_v<Hold>);
static_assert(std::is_nothrow_move_assignable_v<Hold> && std::is_nothrow_destructible_v<Hold>);
static_assert(noexcept(std::declval<Hold&>().release()));

/// Two clients of one server, and a lock of each with the same name.
class Faces : public ::testing::Test {
 protected:
  static Config config(const std::string& url) {
    Config config = optimised_config(url);
    config.lease = 30s;
    config.timing.safety_poll = 60s;
    return config;
  }

  Site site;
  Client here{config(site.url())};
  Client there{config(site.url())};
  Lock lock = here.lock("orders");
  Lock other = there.lock("orders");
};

using StdFace = Faces;

TEST_F(StdFace, ScopedLockHoldsUntilTheEndOfItsScope) {
  {
    const std::scoped_lock guard(lock);
    EXPECT_TRUE(lock.this_thread().is_holding());
    EXPECT_FALSE(other.try_lock());
  }
  EXPECT_TRUE(after_unlock([&] { return !lock.is_locked(); }));
}

TEST_F(StdFace, ScopedLockReleasesWhenAnExceptionPasses) {
  try {
    const std::scoped_lock guard(lock);
    throw std::runtime_error("work failed");
  } catch (const std::runtime_error&) {
    EXPECT_TRUE(after_unlock([&] { return !lock.is_locked(); }));
  }
}

TEST_F(StdFace, UniqueLockWorksInAllItsForms) {
  const std::unique_lock held(lock);
  EXPECT_FALSE(std::unique_lock(other, std::try_to_lock).owns_lock());
  EXPECT_FALSE(std::unique_lock(other, 50ms).owns_lock());
  EXPECT_FALSE(std::unique_lock(other, std::chrono::system_clock::now() + 50ms).owns_lock());
  EXPECT_FALSE(std::unique_lock(other, steady_clock::now() - 1s).owns_lock());
  std::unique_lock deferred(other, std::defer_lock);
  EXPECT_FALSE(deferred.try_lock_for(std::chrono::microseconds(1500)));
  EXPECT_FALSE(deferred.try_lock_for(-1s));
  EXPECT_FALSE(other.this_thread().is_holding());
}

TEST_F(StdFace, UniqueLockCanBeAdoptedUnlockedAndLockedAgain) {
  lock.lock();
  std::unique_lock guard(lock, std::adopt_lock);
  guard.unlock();
  EXPECT_TRUE(after_unlock([&] { return other.try_lock(); }));
  other.unlock();
  guard.lock();
  EXPECT_TRUE(lock.this_thread().is_holding());
  EXPECT_FALSE(other.try_lock());
}

TEST_F(StdFace, TimedLockEntersWhenTheHolderLeavesInTime) {
  std::unique_lock guard(lock);
  std::thread waiter([&] {
    const std::unique_lock entered(other, kPatience);
    EXPECT_TRUE(entered.owns_lock());
  });
  EXPECT_TRUE(eventually([&] { return site.channels() == 1; }));
  guard.unlock();
  waiter.join();
}

TEST_F(StdFace, LockingTwoInOppositeOrderNeverDeadlocks) {
  Lock first = here.lock("first");
  Lock second = here.lock("second");
  Lock first_there = there.lock("first");
  Lock second_there = there.lock("second");
  int rounds = 0;
  const auto work = [&rounds](Lock& one, Lock& two) {
    for (int i = 0; i < 50; ++i) {
      const std::scoped_lock both(one, two);
      ++rounds;  // guarded by both
    }
  };
  std::thread same_client([&] { work(second, first); });
  std::thread other_client([&] { work(second_there, first_there); });
  work(first, second);
  same_client.join();
  other_client.join();
  EXPECT_EQ(rounds, 150);
}

TEST_F(StdFace, CopiesOfAHandleAreOneLock) {
  Lock copy = lock;
  Lock same_name = here.lock("orders");
  lock.lock();
  copy.lock();
  EXPECT_EQ(same_name.this_thread().hold_count(), 2);
  EXPECT_EQ(copy.this_thread().release(), UnlockOutcome::still_held);
  EXPECT_EQ(same_name.this_thread().release(), UnlockOutcome::released);
}

TEST_F(StdFace, AHandleThatGoesAwayDoesNotTakeTheThreadsHoldWithIt) {
  here.lock("short").lock();
  EXPECT_TRUE(site.exists("short"));
  EXPECT_TRUE(here.lock("short").this_thread().is_holding());
  EXPECT_EQ(here.lock("short").this_thread().release(), UnlockOutcome::released);
}

TEST_F(StdFace, UnlockWithoutALockHasNoEffect) {
  other.lock();
  unlock_in_release(lock);
  EXPECT_TRUE(other.this_thread().is_holding());
  EXPECT_TRUE(site.exists("orders"));
  EXPECT_THROW(lock.this_thread().release(), Error);
}

TEST_F(StdFace, TheLossSignalOfAThreadThatHoldsNothingHasNoState) {
  EXPECT_FALSE(lock.this_thread().lost_token().stop_possible());
  EXPECT_EQ(lock.this_thread().valid_for(), 0ms);
  lock.lock();
  EXPECT_TRUE(lock.this_thread().lost_token().stop_possible());
  EXPECT_FALSE(lock.this_thread().lost_token().stop_requested());
}

TEST_F(StdFace, DefaultsOfTheHandleRuleItsLocks) {
  Lock quick = here.lock("quick", {.wait = 50ms, .lease = fixed(5s)});
  EXPECT_FALSE(quick.is_locked());  // has no such limit, and connects
  quick.lock();
  EXPECT_THAT(quick.remaining().value_or(0ms), AllOf(Gt(0s), Le(5s)));
  std::thread([&] {
    try {
      quick.lock();
      ADD_FAILURE() << "locked what is held";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::timed_out);
    }
  }).join();
  EXPECT_EQ(quick.this_thread().release(), UnlockOutcome::released);
}

TEST_F(StdFace, AStopTokenAmongTheDefaultsEndsAWaitOfLock) {
  std::stop_source stop;
  Lock stoppable = there.lock("orders", {.wait = 60s, .stop = stop.get_token()});
  const std::scoped_lock guard(lock);
  std::thread waiter([&] {
    try {
      stoppable.lock();
      ADD_FAILURE() << "locked what is held";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::cancelled);
    }
  });
  EXPECT_TRUE(eventually([&] { return site.channels() == 1; }));
  stop.request_stop();
  waiter.join();
}

TEST_F(StdFace, AConstHandleDoesAllThatAnyOtherDoes) {
  const Client& client = here;
  client.ping();
  const Lock handle = client.lock("orders");
  {
    const std::scoped_lock guard(handle);
    EXPECT_FALSE(other.try_lock());
    EXPECT_EQ(client.list().size(), 1U);
  }
  {
    const std::unique_lock guard(handle, 500ms);
    EXPECT_TRUE(guard);
  }
  const Hold hold = handle.acquire();
  EXPECT_EQ(handle.try_acquire(), std::nullopt);
  EXPECT_TRUE(handle.force_release());
  client.close();
}

using HoldFace = Faces;

TEST_F(HoldFace, AHoldIsReleasedAtTheEndOfItsScope) {
  {
    const Hold hold = lock.acquire();
    EXPECT_TRUE(hold);
    EXPECT_EQ(hold.state(), HoldState::held);
    EXPECT_EQ(hold.name(), "orders");
    EXPECT_EQ(other.try_acquire(), std::nullopt);
  }
  EXPECT_TRUE(after_unlock([&] { return !site.exists("orders"); }));
}

TEST_F(HoldFace, DefaultsOfTheHandleRuleItsHolds) {
  const Lock quick = here.lock("quick", {.wait = 50ms, .lease = fixed(5s)});
  EXPECT_FALSE(quick.is_locked());  // has no such limit, and connects
  {
    const Hold hold = quick.acquire();
    EXPECT_THAT(quick.remaining().value_or(0ms), AllOf(Gt(0s), Le(5s)));
    EXPECT_THROW((void)quick.acquire(), Error) << "it waits for 50 ms";
    EXPECT_EQ(quick.try_acquire(), std::nullopt);
  }
  {
    const Hold hold = quick.acquire({.lease = renewed()});
    EXPECT_GT(quick.remaining().value_or(0ms), 5s) << "what the call says wins";
  }
  const Lock brief = quick.with({.max_hold = 100ms});
  const Hold hold = brief.acquire();
  EXPECT_THAT(quick.remaining().value_or(0ms), AllOf(Gt(0s), Le(5s))) << "what with() leaves out stays";
  EXPECT_EQ(brief.info(InfoDetail::owner).owner, hold.owner());
  EXPECT_TRUE(eventually([&] { return hold.loss_reason() == LossReason::max_hold; }));
}

TEST_F(HoldFace, AnEmptyHoldHoldsNothing) {
  Hold hold;
  EXPECT_FALSE(hold);
  EXPECT_FALSE(hold.is_lost());
  EXPECT_FALSE(hold.lost_token().stop_possible());
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_EQ(hold.owner(), "");
  EXPECT_EQ(hold.state(), HoldState::empty);
  EXPECT_EQ(hold.release(), ReleaseOutcome::empty);
}

TEST_F(HoldFace, MovingPassesTheHoldOn) {
  Hold first = lock.acquire();
  const std::string owner = first.owner();
  Hold second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.owner(), owner);
  EXPECT_TRUE(lock.is_held_by(owner));
  second = here.lock("invoices").acquire();
  EXPECT_TRUE(after_unlock([&] { return !site.exists("orders"); })) << "what is assigned over is released";
  EXPECT_TRUE(site.exists("invoices"));
}

TEST_F(HoldFace, AnyThreadMayReleaseAHold) {
  Hold hold = lock.acquire();
  std::thread([&] { EXPECT_EQ(hold.release(), ReleaseOutcome::released); }).join();
  EXPECT_FALSE(site.exists("orders"));
}

TEST_F(HoldFace, ReleasingTwiceSaysTheSameTwice) {
  Hold hold = lock.acquire();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(hold);
  const std::scoped_lock guard(other);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(other.this_thread().is_holding());
}

TEST_F(HoldFace, TheTwoFacesExcludeEachOther) {
  {
    const std::scoped_lock guard(lock);
    EXPECT_EQ(lock.try_acquire(), std::nullopt);
  }
  const Hold hold = lock.acquire();
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.this_thread().is_holding()) << "the hold owns the lock, not the thread";
}

TEST_F(HoldFace, TryWithoutExceptionsSaysWhy) {
  std::unique_lock guard(lock);
  std::error_code error;
  EXPECT_EQ(tried(other, {}, error), std::nullopt);
  EXPECT_EQ(error, Errc::busy);
  EXPECT_EQ(tried(other, {.wait = 50ms}, error), std::nullopt);
  EXPECT_EQ(error, Errc::timed_out);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(tried(other, {.wait = kPatience, .stop = stopped.get_token()}, error), std::nullopt);
  EXPECT_EQ(error, Errc::cancelled);
  guard.unlock();
  EXPECT_TRUE(after_unlock([&] { return !site.exists("orders"); }));
  const auto hold = tried(other, {}, error);
  EXPECT_TRUE(hold.has_value());
  EXPECT_FALSE(error);
}

TEST_F(HoldFace, TheOwnerAndTheRestAreSeenThroughInfo) {
  EXPECT_EQ(lock.info().owner, "");
  const Hold hold = lock.acquire({.lease = fixed(20s)});
  const LockInfo info = other.info();
  EXPECT_EQ(info.name, "orders");
  EXPECT_EQ(info.owner, hold.owner());
  EXPECT_EQ(info.holds, 1);
  EXPECT_THAT(info.remaining.value_or(0ms), AllOf(Gt(10s), Le(20s)));
  EXPECT_TRUE(other.is_held_by(hold.owner()));
  EXPECT_FALSE(other.is_held_by(here.id() + ":0"));
  EXPECT_EQ(hold.owner().substr(0, here.id().size() + 1), here.id() + ":");
}

TEST_F(HoldFace, EveryAcquisitionIsAnOwnerOfItsOwn) {
  const std::string first = lock.acquire().owner();
  const std::string second = lock.acquire().owner();
  EXPECT_NE(first, second);
}

TEST_F(HoldFace, TheCallbackComesOnceWithTheReason) {
  std::atomic<int> calls{0};
  std::atomic<LossReason> reason{LossReason::expired};
  const Hold hold = lock.acquire({.lease = renewed(300ms), .on_lost = [&](const LostEvent& event) {
                                    reason = event.reason;
                                    ++calls;
                                  }});
  EXPECT_TRUE(other.force_release());
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
  EXPECT_EQ(reason, LossReason::taken);
  EXPECT_TRUE(hold.lost_token().stop_requested());
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_FALSE(eventually([&] { return calls > 1; }, 500ms));
}

TEST_F(HoldFace, ACapOnTheAgeEndsARenewedHold) {
  std::atomic<bool> capped{false};
  const Hold hold = lock.acquire({.lease = renewed(300ms), .max_hold = 1s, .on_lost = [&](const LostEvent& event) {
                                    capped = event.reason == LossReason::max_hold;
                                  }});
  EXPECT_TRUE(other.try_lock_for(kPatience));
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_TRUE(eventually([&] { return capped.load(); }));
  other.unlock();
}

}  // namespace
}  // namespace holdfast::test::faces_test
