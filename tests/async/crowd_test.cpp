// SPDX-License-Identifier: Apache-2.0
// As many coroutines as a service may have: they wait on one thread, each gets its turn, and a waiter is small.
#include <iostream>
#include <malloc.h>

#include "async.hpp"

namespace holdfast::test::crowd_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kLocks = 100, kWaitersEach = 50;  // a sanitizer needs ten times the time and the memory
#else
constexpr int kLocks = 1000, kWaitersEach = 100;
#endif
constexpr int kWaiters = kLocks * kWaitersEach;

class Crowd : public Async {
 protected:
  awaitable<void> wait_for_turn(Lock lock, int& inside) {
    Hold hold = co_await lock.async_acquire(use_awaitable);
    EXPECT_EQ(++inside, 1);
    co_await asio::post(use_awaitable);
    --inside;
    EXPECT_EQ(co_await hold.async_release(use_awaitable), ReleaseOutcome::released);
    ++served;
  }

  int served = 0;
};

TEST_F(Crowd, AHundredThousandWaitersOfAThousandLocksAllGetTheirTurn) {
  Config settings = quick_config(server.url());
  settings.lease = 60s;
  settings.timing.command_timeout = settings.timing.patience = settings.timing.release_timeout = 60s;
  Client holder = make_client(settings);
  Client client = make_client(settings);
  std::vector<Lock> locks;
  std::vector<Hold> holds;
  std::vector<int> inside(kLocks);
  run([&]() -> awaitable<void> {
    for (int i = 0; i < kLocks; ++i) {
      const std::string name = "lock " + std::to_string(i);
      holds.push_back(co_await holder.lock(name).async_acquire(use_awaitable));
      locks.push_back(client.lock(name));
    }
  }());
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < kWaiters; ++i) {
    asio::co_spawn(
        context,
        wait_for_turn(locks[static_cast<std::size_t>(i % kLocks)], inside[static_cast<std::size_t>(i % kLocks)]),
        [](std::exception_ptr problem) { EXPECT_FALSE(problem); });
  }
  EXPECT_TRUE(turn_until([&] { return client.counters().commands >= static_cast<std::uint64_t>(kLocks) * 2; }));
  const std::size_t bytes = (mallinfo2().uordblks - before) / static_cast<std::size_t>(kWaiters);
  EXPECT_EQ(served, 0);

  const auto began = steady_clock::now();
  holds.clear();
  EXPECT_TRUE(turn_until([&] { return served == kWaiters; }, 200s));
  const std::chrono::duration<double> took = steady_clock::now() - began;
  std::cout << kWaiters << " coroutines on " << kLocks << " locks: " << bytes << " bytes each while they wait, "
            << took.count() << " s until all have had their turn\n";
  RecordProperty("bytes_per_waiter", static_cast<int>(bytes));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(bytes, 4000U);
#endif
  EXPECT_EQ(client.counters().safety_polls, 0U) << "nobody was woken late";
  close({&client, &holder});
}

}  // namespace
}  // namespace holdfast::test::crowd_test
