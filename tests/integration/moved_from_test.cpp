// SPDX-License-Identifier: Apache-2.0
// What is left of a handle that was moved from: a lock, semaphore or latch is one still, a client says that it is none.
#include <type_traits>

#include <holdfast/async.hpp>
#include <holdfast/probe.hpp>
#include <holdfast/testing.hpp>

#include "faults.hpp"
#include "support/tried.hpp"

namespace holdfast::test::moved_from_test {
namespace {

using testing::HasSubstr;

static_assert(std::is_nothrow_move_constructible_v<Lock> && std::is_nothrow_move_assignable_v<Lock>);
static_assert(std::is_nothrow_move_constructible_v<ReadWriteLock> && std::is_nothrow_move_constructible_v<MultiLock>);
static_assert(std::is_nothrow_move_constructible_v<Semaphore> && std::is_nothrow_move_constructible_v<Latch>);
static_assert(std::is_nothrow_move_constructible_v<ThisThread> && std::is_nothrow_move_constructible_v<Client>);

class MovedFrom : public Faults {
 protected:
  /// Moves it away in both ways, and lets go of where it went.
  template <class Handle>
  static Handle& moved(Handle& handle) {
    {
      const Handle first(std::move(handle));
    }
    Handle second(handle);
    {
      Handle third(second);
      third = std::move(handle);
    }
    return handle;
  }

  /// What every lock can do.
  template <class AnyLockKind>
  static void use(AnyLockKind lock) {
    moved(lock);
    EXPECT_FALSE(lock.name().empty());
    {
      Hold hold = lock.acquire({.wait = 10s});
      EXPECT_FALSE(hold.is_lost());
      EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    }
    std::error_code error;
    EXPECT_TRUE(static_cast<std::optional<Hold>>(tried(lock, {.wait = 10s}, error)).has_value()) << error.message();
    ThisThread mine = lock.this_thread();
    moved(mine);
    EXPECT_FALSE(mine.is_holding());
    EXPECT_EQ(mine.hold_count(), 0);
    EXPECT_FALSE(mine.is_lost());
    EXPECT_FALSE(mine.lost_token().stop_possible());
    EXPECT_EQ(mine.valid_for(), 0ms);
    EXPECT_FALSE(mine.token());
    EXPECT_THROW(mine.release(), Error);
    EXPECT_FALSE(lock.with({.wait = 1s}).name().empty());
  }
  template <class Kind>
  static void use_as_lockable(Kind lock) {
    use(lock);
    moved(lock);
    lock.lock();
    EXPECT_TRUE(lock.this_thread().is_holding());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_for(10s));
    lock.unlock();
  }
  /// And those that are one key.
  template <class Kind>
  static void use_key(Kind lock) {
    moved(lock);
    EXPECT_FALSE(lock.is_locked());
    EXPECT_FALSE(lock.is_held_by("99999999-2222-4333-8444-555555555555:7"));
    EXPECT_FALSE(lock.remaining());
    EXPECT_EQ(lock.info().owner, "");
    EXPECT_FALSE(lock.force_release());
    EXPECT_FALSE(lock.force_release("99999999-2222-4333-8444-555555555555:7"));
  }
};

TEST_F(MovedFrom, LocksOfAllKindsGoOn) {
  const Client client(config());
  use_as_lockable(client.lock("L"));
  use_key(client.lock("L"));
  use_as_lockable(client.simple_lock("simple"));
  use_key(client.simple_lock("simple"));
  use_as_lockable(client.fenced_lock("fenced"));
  use_key(client.fenced_lock("fenced"));
  FencedLock fenced = client.fenced_lock("fenced");
  EXPECT_GT(moved(fenced).latest_token(), 0);
  use_as_lockable(client.fair_lock("fair"));
  use_key(client.fair_lock("fair"));
  use_as_lockable(client.spin_lock("spin"));
  use_key(client.spin_lock("spin"));
  use_as_lockable(client.multi_lock({"L", "M"}));
  use_as_lockable(RedLock(std::vector{client.lock("L")}));
  use(client.any_lock({"L", "M"}));
}

TEST_F(MovedFrom, BothSidesOfAReadWriteLockGoOn) {
  const Client client(config());
  ReadWriteLock lock = client.read_write_lock("L");
  use_as_lockable(lock.writer());
  use_key(lock.writer());
  use_as_lockable(lock.reader());
  moved(lock);
  lock.lock();
  lock.unlock();
  {
    Hold hold = lock.writer().acquire();
    lock.downgrade(hold);
    EXPECT_TRUE(static_cast<std::optional<Hold>>(lock.reader().try_acquire()).has_value());
  }
  lock.lock_shared();
  lock.unlock_shared();
  EXPECT_TRUE(lock.try_lock_shared());
  lock.unlock_shared();
}

TEST_F(MovedFrom, WhatCountsGoesOn) {
  const Client client(config());
  LeasedSemaphore leased = client.leased_semaphore("leased");
  moved(leased);
  EXPECT_TRUE(leased.init(1));
  EXPECT_EQ(leased.available(), 1);
  use(leased);
  EXPECT_TRUE(leased.remove());
  Semaphore semaphore = client.semaphore("semaphore");
  moved(semaphore);
  EXPECT_EQ(semaphore.name(), "semaphore");
  EXPECT_TRUE(semaphore.init(1));
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_TRUE(semaphore.release(1));
  semaphore.acquire();
  EXPECT_EQ(semaphore.add(1), 1);
  EXPECT_EQ(semaphore.available(), 1);
  EXPECT_EQ(semaphore.drain(), 1);
  EXPECT_FALSE(semaphore.try_acquire_for(1ms));
  EXPECT_TRUE(semaphore.remove());
  Latch latch = client.latch("latch");
  moved(latch);
  EXPECT_EQ(latch.name(), "latch");
  EXPECT_TRUE(latch.init(2));
  EXPECT_EQ(latch.count(), 2);
  EXPECT_EQ(latch.count_down(), 1);
  EXPECT_FALSE(latch.wait_for(1ms));
  latch.arrive_and_wait();
  latch.wait();
  EXPECT_FALSE(latch.remove());
}

TEST_F(MovedFrom, AHoldIsEmpty) {
  const Client client(config());
  Hold hold = client.lock("L").acquire();
  const Hold kept(std::move(hold));
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_EQ(hold.owner(), "");
  EXPECT_FALSE(kept.is_lost());
}

TEST_F(MovedFrom, AClientSaysSo) {
  Client client(config());
  const Lock lock = client.lock("L");
  const Client kept(std::move(client));
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"lock", [&] { static_cast<void>(client.lock("L")); }},
      {"simple_lock", [&] { static_cast<void>(client.simple_lock("L")); }},
      {"fenced_lock", [&] { static_cast<void>(client.fenced_lock("L")); }},
      {"fair_lock", [&] { static_cast<void>(client.fair_lock("L")); }},
      {"spin_lock", [&] { static_cast<void>(client.spin_lock("L")); }},
      {"read_write_lock", [&] { static_cast<void>(client.read_write_lock("L")); }},
      {"leased_semaphore", [&] { static_cast<void>(client.leased_semaphore("L")); }},
      {"semaphore", [&] { static_cast<void>(client.semaphore("L")); }},
      {"latch", [&] { static_cast<void>(client.latch("L")); }},
      {"multi_lock", [&] { static_cast<void>(client.multi_lock({"L", "M"})); }},
      {"any_of", [&] { static_cast<void>(client.any_lock({"L", "M"})); }},
      {"ping", [&] { client.ping(); }},
      {"list", [&] { static_cast<void>(client.list()); }},
      {"release_all", [&] { static_cast<void>(client.release_all(1s)); }},
      {"counters", [&] { static_cast<void>(client.counters()); }},
      {"metrics", [&] { static_cast<void>(client.metrics()); }},
      {"probe", [&] { static_cast<void>(probe(client)); }},
      {"async_ping", [&] { client.async_ping([](const Failure&) {}); }},
      {"async_list",
       [&] { client.async_list("*", InfoDetail::owner, [](const Failure&, const std::vector<LockInfo>&) {}); }},
      {"async_release_all", [&] { client.async_release_all(1s, [](std::size_t) {}); }},
      {"async_close", [&] { client.async_close([] {}); }},
  };
  for (const auto& [name, call] : calls) {
    const std::optional<Error> error = error_of([&] {
      call();
      return true;
    });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->code(), code(Errc::closed)) << name;
    EXPECT_THAT(error->what(), HasSubstr("the client was moved from")) << name;
  }
  EXPECT_EQ(client.id(), "");
  EXPECT_EQ(client.node(), "");
  client.close();
  client = Client(config());
  client.ping();
  EXPECT_FALSE(lock.is_locked());
}

TEST_F(MovedFrom, ATestServerIsNowhere) {
  TestServer moved_away;
  const TestServer kept(std::move(moved_away));
  EXPECT_EQ(moved_away.url(), "");
  EXPECT_NE(kept.url(), "");
}

}  // namespace
}  // namespace holdfast::test::moved_from_test
