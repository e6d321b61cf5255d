// SPDX-License-Identifier: Apache-2.0
// SpinLock: a lock without messages; and locks that their own thread cannot take twice.
#include <deque>

#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/listen.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::spin_lock_test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;

static_assert(!std::is_constructible_v<MultiLock, std::vector<SpinLock>>);
static_assert(!std::is_constructible_v<RedLock, std::vector<SpinLock>>);

class Spin : public Faults {
 protected:
  /// Any message, and any channel that somebody listens to, is seen.
  bool is_silent() { return messages_.messages().empty() && raw.command("PUBSUB", "CHANNELS").elements.empty(); }
  std::string holder() {
    const auto fields = raw.hgetall("orders");
    return fields.empty() ? std::string() : fields.begin()->first;
  }
  static std::future<Hold> start(const SpinLock& lock, const AcquireOptions& options = {.wait = 30s}) {
    return in_thread([lock, options] { return lock.acquire(options); });
  }
  std::size_t scripts(Monitor& monitor) { return monitor.count("evalsha") + monitor.count("\"eval\""); }

  Subscriber messages_{server};  // by a pattern, which is no channel
};

TEST_F(Spin, IsTakenAndGivenBackWithACommandEachAndNoMessage) {
  Client client(config());
  const SpinLock lock = client.spin_lock("orders");
  lock.acquire().release();
  const auto before = client.counters().commands;
  Hold hold = lock.acquire();
  EXPECT_EQ(raw.hgetall("orders"), (std::map<std::string, std::string>{{hold.owner(), "1"}}));
  EXPECT_TRUE(lock.is_held_by(hold.owner()));
  EXPECT_EQ(lock.info(InfoDetail::owner).owner, hold.owner());
  const auto asked = client.counters().commands - before - 1;
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(client.counters().commands - before - asked, 2U);
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_TRUE(is_silent());
}

TEST_F(Spin, AWaiterAsksLessAndLessOftenAndSubscribesToNothing) {
  put_held_lock(raw, "orders");
  Client client(config());
  Monitor monitor(server);
  EXPECT_FALSE(client.spin_lock("orders").try_lock_for(1000ms));
  // After 1, 3, 7, 15, 31, 63, 127, 255 ms and then every 128 ms, which is 14 times, and once at the beginning. What
  // chance adds, and a busy machine, make it fewer; waiting in steps of 1 ms would make it hundreds.
  EXPECT_THAT(scripts(monitor), AllOf(Ge(8U), Le(16U)));
  EXPECT_EQ(monitor.count("subscribe"), 0U);
  EXPECT_TRUE(is_silent());
  EXPECT_EQ(client.counters().safety_polls, 0U);
}

TEST_F(Spin, TheSettingsSayHowOften) {
  put_held_lock(raw, "orders");
  Config settings = config();
  settings.kinds.spin_min = settings.kinds.spin_max = 300ms;
  Client client(settings);
  Monitor monitor(server);
  EXPECT_FALSE(client.spin_lock("orders").try_lock_for(1000ms));
  EXPECT_THAT(scripts(monitor), AllOf(Ge(2U), Le(6U))) << "in steps of 1 ms it would be hundreds";
}

TEST_F(Spin, AWaiterFindsItFreeSoonAlthoughNobodyTells) {
  put_held_lock(raw, "orders");
  Client client(config());
  auto waiting = start(client.spin_lock("orders"));
  EXPECT_FALSE(ready(waiting, 500ms));
  const auto freed = steady_clock::now();
  raw.command("DEL", "orders");
  const Hold hold = waiting.get();
  EXPECT_LT(steady_clock::now() - freed, 2s);
  EXPECT_EQ(holder(), hold.owner());
}

TEST_F(Spin, AWaiterEntersWhenTheLeaseEnds) {
  put_held_lock(raw, "orders");
  raw.command("PEXPIRE", "orders", 300);
  Config settings = config();
  settings.kinds.spin_min = settings.kinds.spin_max = 60s;
  Client client(settings);
  const auto began = steady_clock::now();
  const Hold hold = start(client.spin_lock("orders")).get();
  EXPECT_THAT(steady_clock::now() - began, AllOf(Ge(250ms), Le(5s)));
}

TEST_F(Spin, WaitersOfOneClientAreServedInOrderAndOnlyTheFirstAsks) {
  Config settings = config();
  settings.kinds.spin_min = settings.kinds.spin_max = 60s;
  Client client(settings);
  const SpinLock lock = client.spin_lock("orders");
  Hold first = lock.acquire();
  std::mutex mutex;
  std::vector<int> order;
  std::deque<std::future<void>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(in_thread([&, i] {
      const Hold hold = lock.acquire({.wait = 30s});
      const std::scoped_lock guard(mutex);
      order.push_back(i);
    }));
    ASSERT_TRUE(eventually([&] { return client.counters().waiting == static_cast<std::uint64_t>(i + 1); }));
  }
  first.release();
  for (auto& each : waiting) each.get();
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4)) << "or it asked only after a minute";
  EXPECT_TRUE(is_silent());
}

TEST_F(Spin, IsNotPassedOnInsideAClient) {
  Config settings = config();
  settings.kinds.handoff = 60s;
  Client client(settings);
  const SpinLock lock = client.spin_lock("orders");
  Hold first = lock.acquire();
  auto next = start(lock);
  ASSERT_TRUE(eventually([&] { return client.counters().waiting == 1; }));
  const std::string owner = first.owner();
  first.release();
  EXPECT_NE(next.get().owner(), owner);
}

TEST_F(Spin, IsRenewedAndItsLossIsTold) {
  Config settings = config();
  settings.lease = 600ms;
  Client client(settings);
  Hold hold = client.spin_lock("orders").acquire();
  EXPECT_FALSE(eventually([&] { return !raw.exists("orders"); }, 3 * 600ms));
  EXPECT_TRUE(client.spin_lock("orders").force_release());
  EXPECT_TRUE(eventually([&] { return hold.is_lost(); }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_TRUE(is_silent());
}

TEST_F(Spin, NeedsNoPermissionForChannels) {
  if (!server_like_redis(6, 2)) GTEST_SKIP() << "Redis 6.0 has no rights on channels";
  const std::string reply =
      raw.command("ACL", "SETUSER", "quiet", "on", ">secret", "~*", "resetchannels", "-@all", "+evalsha", "+eval",
                  "+pttl", "+hexists", "+hset", "+pexpire", "+hdel", "+hlen", "+hgetall", "+ping")
          .text;
  ASSERT_EQ(reply, "OK");
  Config settings = config();
  settings.username = "quiet";
  settings.password = "secret";
  Client client(settings), other(settings);
  Hold hold = client.spin_lock("orders").acquire();
  auto waiting = start(other.spin_lock("orders"));
  EXPECT_FALSE(ready(waiting, 50ms));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(waiting.get().release(), ReleaseOutcome::released);
}

TEST_F(Spin, NobodyIsSaidToListen) {
  Client client(config());
  const Hold hold = client.spin_lock("orders").acquire();
  const Subscriber listener(server, {channel_of("orders")});
  EXPECT_EQ(client.lock("orders").info().listeners, 1U);
  EXPECT_EQ(client.spin_lock("orders").info().listeners, std::nullopt);
  EXPECT_TRUE(client.spin_lock("orders").info().holder);
}

TEST_F(Spin, WhatIsNoLockIsAnErrorAndIsLeftAlone) {
  Client client(config());
  raw.command("SET", "orders", "x");
  EXPECT_THAT(error_of([&] { return client.spin_lock("orders").acquire({.wait = 10s}); }),
              IsError(Errc::wrong_type, "orders", client.node(), HasSubstr("a string")));
  EXPECT_THAT(error_of([&] { return client.spin_lock("orders").force_release(); }),
              IsError(Errc::wrong_type, "orders", client.node(), HasSubstr("a string")));
  EXPECT_EQ(raw.command("GET", "orders").text, "x");
}

TEST(SpinSettings, OutOfRangeAreRefused) {
  const auto refused = [](auto change) {
    Config settings;
    change(settings);
    const auto error = error_of([&] {
      settings.validate();
      return 0;
    });
    return error ? error->cause() : std::string();
  };
  EXPECT_THAT(refused([](Config& config) { config.kinds.spin_min = 0ms; }), HasSubstr("spin_min must be from 1 ms"));
  EXPECT_EQ(refused([](Config& config) { config.kinds.spin_min = 129ms; }), "spin_min is longer than spin_max");
  for (const int multiplier : {0, -1, 1001}) {
    EXPECT_EQ(refused([&](Config& config) { config.kinds.spin_multiplier = multiplier; }),
              "spin_multiplier must be from 1 to 1000, not " + std::to_string(multiplier));
  }
}

// ---- not re-entrant ----

class NonReentrant : public Faults {
 protected:
  Client client_{config()};
};

/// The thread that has it is refused at once, whatever the wait, and nothing is sent.
template <class Lockable>
void expect_refused(const Client& client, const Lockable& lock) {
  const auto before = client.counters().commands;
  const auto took = duration_of([&] {
    EXPECT_THAT(error_of([&] {
                  lock.lock();
                  return 0;
                }),
                IsError(Errc::would_deadlock, lock.name(), client.node(), HasSubstr("it holds it already")));
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock_for(60s));
  });
  EXPECT_LT(took, 30s);
  EXPECT_EQ(client.counters().commands, before);
  EXPECT_EQ(lock.this_thread().hold_count(), 1);
}

TEST_F(NonReentrant, TheThreadThatHasItIsRefusedAtOnce) {
  const LockOptions options{.reentrant = false};
  const Lock lock = client_.lock("a", options);
  const FencedLock fenced = client_.fenced_lock("b", options);
  const FairLock fair = client_.fair_lock("c", options);
  const SpinLock spin = client_.spin_lock("d", options);
  const MultiLock multi = client_.multi_lock({"e", "f"}, options);
  const auto check = [&](const auto& each) {
    SCOPED_TRACE(each.name());
    {
      const std::scoped_lock guard(each);
      expect_refused(client_, each);
    }
    EXPECT_EQ(each.this_thread().hold_count(), 0);
    EXPECT_TRUE(each.try_lock()) << "once more, when it has given it back";
    each.unlock();
  };
  check(lock);
  check(fenced);
  check(fair);
  check(spin);
  check(multi);
}

TEST_F(NonReentrant, OfAReadWriteLockNeitherSideIsTakenTwice) {
  const ReadWriteLock lock = client_.read_write_lock("orders", {.reentrant = false});
  lock.lock_shared();
  expect_refused(client_, lock.reader());
  lock.unlock_shared();
  lock.lock();
  expect_refused(client_, lock.writer());
  EXPECT_FALSE(lock.try_lock_shared()) << "nor as a reader";
  EXPECT_THAT(error_of([&] {
                lock.lock_shared();
                return 0;
              }),
              IsError(Errc::would_deadlock, "orders", client_.node(), HasSubstr("it holds it as a writer")));
  lock.unlock();
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(NonReentrant, OtherThreadsWaitAsAlways) {
  const Lock lock = client_.lock("orders", {.reentrant = false});
  lock.lock();
  auto other = in_thread([&] {
    const std::scoped_lock guard(lock);
    return true;
  });
  EXPECT_FALSE(ready(other, 50ms));
  lock.unlock();
  EXPECT_TRUE(other.get());
}

TEST_F(NonReentrant, IsTheHandlesAndNotTheLocks) {
  const Lock plain = client_.lock("orders");
  const Lock strict = plain.with({.reentrant = false});
  plain.lock();
  expect_refused(client_, strict);
  expect_refused(client_, strict.with({.max_hold = 1h}));
  plain.lock();
  EXPECT_EQ(plain.this_thread().hold_count(), 2);
  EXPECT_TRUE(strict.with({.reentrant = true}).try_lock());
  for (int i = 0; i < 3; ++i) plain.unlock();
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(NonReentrant, HoldsAreNotAffected) {
  const Lock lock = client_.lock("orders", {.reentrant = false});
  Hold hold = lock.acquire();
  const MaybeHold busy = lock.try_acquire();
  EXPECT_FALSE(busy) << "somebody has it";
  hold.release();
  const MaybeHold free = lock.try_acquire();
  EXPECT_TRUE(free);
}

TEST_F(NonReentrant, AKindThatIsNotReentrantCannotBeMadeSo) {
  EXPECT_THAT(error_of([&] { return client_.simple_lock("orders", {.reentrant = true}); }),
              IsError(Errc::invalid_argument, "orders", client_.node(), "locks of this kind are not re-entrant"));
  EXPECT_FALSE(error_of([&] { return client_.simple_lock("orders", {.reentrant = false}); }));
}

TEST_F(NonReentrant, AThreadThatHasLostItIsToldThat) {
  const Lock lock = client_.lock("orders", {.lease = fixed(100ms), .reentrant = false});
  lock.lock();
  ASSERT_TRUE(eventually([&] { return lock.this_thread().is_lost(); }));
  EXPECT_EQ(error_of([&] {
              lock.lock();
              return 0;
            })->code(),
            Errc::lost);
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_for(10s));
  lock.unlock();
}

}  // namespace
}  // namespace holdfast::test::spin_lock_test
