// SPDX-License-Identifier: Apache-2.0
// Semaphores and latches without blocking.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>

#include "async.hpp"

namespace holdfast::test::async_counting_test {
namespace {

class AsyncCounting : public BothHomes {
 protected:
  Client client = make_client();
  Semaphore semaphore = client.semaphore("slots");
  Latch latch = client.latch("ready");
  LeasedSemaphore gpus = client.leased_semaphore("gpus");
};
HOLDFAST_BOTH_HOMES(AsyncCounting);

TEST_P(AsyncCounting, ASemaphoreCounts) {
  run([&]() -> awaitable<void> {
    EXPECT_TRUE(co_await semaphore.async_init(3, use_awaitable));
    EXPECT_FALSE(co_await semaphore.async_init(3, use_awaitable));
    co_await semaphore.async_acquire(2, use_awaitable);
    EXPECT_EQ(co_await semaphore.async_available(use_awaitable), 1);
    EXPECT_FALSE(co_await semaphore.async_try_acquire_for(30ms, 2, use_awaitable));
    EXPECT_TRUE(co_await semaphore.async_release(1, use_awaitable));
    EXPECT_TRUE(co_await semaphore.async_try_acquire_for(0ms, 2, use_awaitable));
    EXPECT_EQ(co_await semaphore.async_add(4, use_awaitable), 4);
    EXPECT_EQ(co_await semaphore.async_drain(use_awaitable), 4);
  }());
}

TEST_P(AsyncCounting, ATrySaysAtOnceWhetherItCan) {
  run([&]() -> awaitable<void> {
    EXPECT_TRUE(co_await semaphore.async_init(1, use_awaitable));
    EXPECT_FALSE(co_await semaphore.async_try_acquire(2, use_awaitable));
    EXPECT_TRUE(co_await semaphore.async_try_acquire(1, use_awaitable));
    EXPECT_FALSE(co_await semaphore.async_try_acquire(1, use_awaitable));
    EXPECT_TRUE(co_await latch.async_init(1, use_awaitable));
    EXPECT_FALSE(co_await latch.async_try_wait(use_awaitable));
    co_await latch.async_count_down(1, use_awaitable);
    EXPECT_TRUE(co_await latch.async_try_wait(use_awaitable));
  }());
}

TEST_P(AsyncCounting, WhoWaitsForPermitsGoesOnWhenTheyCome) {
  run([&]() -> awaitable<void> {
    co_await semaphore.async_init(0, use_awaitable);
    int entered = 0;
    for (int i = 0; i < 5; ++i) {
      asio::co_spawn(
          context,
          [&]() -> awaitable<void> {
            co_await semaphore.async_acquire(1, use_awaitable);
            ++entered;
          },
          asio::detached);
    }
    co_await pause(100ms);
    EXPECT_EQ(entered, 0);
    co_await semaphore.async_release(5, use_awaitable);
    EXPECT_TRUE(co_await soon([&] { return entered == 5; }));
    EXPECT_EQ(co_await semaphore.async_available(use_awaitable), 0);
  }());
}

TEST_P(AsyncCounting, ACancelledAcquireTakesNothing) {
  asio::cancellation_signal cancel;
  run([&]() -> awaitable<void> {
    co_await semaphore.async_init(0, use_awaitable);
    std::optional<Failure> ended;
    semaphore.async_acquire(
        1, asio::bind_cancellation_slot(
               cancel.slot(), asio::bind_executor(context, [&](const Failure& failure) { ended = failure; })));
    co_await pause(100ms);
    EXPECT_FALSE(ended);
    cancel.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(co_await soon([&] { return ended.has_value(); }));
    EXPECT_EQ(ended->code(), Errc::cancelled);
    co_await semaphore.async_release(1, use_awaitable);
    EXPECT_EQ(co_await semaphore.async_available(use_awaitable), 1);
    EXPECT_TRUE(co_await semaphore.async_remove(use_awaitable));
    EXPECT_FALSE(co_await semaphore.async_remove(use_awaitable));
  }());
}

TEST_P(AsyncCounting, WhatIsOutOfRangeFailsAsAResult) {
  run([&]() -> awaitable<void> {
    const auto [none] = co_await semaphore.async_acquire(0, asio::as_tuple(use_awaitable));
    EXPECT_EQ(none.code(), Errc::invalid_argument);
    const auto [zero, made] = co_await latch.async_init(0, asio::as_tuple(use_awaitable));
    EXPECT_EQ(zero.code(), Errc::invalid_argument);
    EXPECT_FALSE(made);
    const auto [backwards, left] = co_await latch.async_count_down(0, asio::as_tuple(use_awaitable));
    EXPECT_EQ(backwards.code(), Errc::invalid_argument);
    const auto [too_many, now] = co_await semaphore.async_add(std::int64_t{1} << 40, asio::as_tuple(use_awaitable));
    EXPECT_EQ(too_many.code(), Errc::invalid_argument);
  }());
}

TEST_P(AsyncCounting, AllWhoWaitForALatchGoOnWhenItOpens) {
  run([&]() -> awaitable<void> {
    co_await latch.async_wait(use_awaitable);
    EXPECT_TRUE(co_await latch.async_init(2, use_awaitable));
    int through = 0;
    for (int i = 0; i < 100; ++i) {
      asio::co_spawn(
          context,
          [&]() -> awaitable<void> {
            co_await latch.async_wait(use_awaitable);
            ++through;
          },
          asio::detached);
    }
    EXPECT_FALSE(co_await latch.async_wait_for(50ms, use_awaitable));
    EXPECT_EQ(co_await latch.async_count_down(1, use_awaitable), 1);
    co_await pause(100ms);
    EXPECT_EQ(through, 0);
    EXPECT_EQ(co_await latch.async_count_down(1, use_awaitable), 0);
    EXPECT_TRUE(co_await soon([&] { return through == 100; }));
    EXPECT_EQ(co_await latch.async_count(use_awaitable), 0);
    EXPECT_FALSE(co_await latch.async_remove(use_awaitable));
  }());
}

TEST_P(AsyncCounting, APermitIsAHoldWhoseEndDoesNotWait) {
  run([&]() -> awaitable<void> {
    EXPECT_TRUE(co_await gpus.async_init(2, use_awaitable));
    {
      const Hold one = co_await gpus.async_acquire(use_awaitable);
      EXPECT_EQ(co_await gpus.async_available(use_awaitable), 1);
      EXPECT_TRUE(co_await gpus.async_remove(use_awaitable));
      EXPECT_TRUE(co_await gpus.async_init(2, use_awaitable));
      EXPECT_EQ(co_await gpus.async_available(use_awaitable), 1) << "what is held counts";
      EXPECT_EQ(co_await gpus.async_add(2, use_awaitable), 3);
      EXPECT_EQ(co_await gpus.async_set_total(2, use_awaitable), 1);
      const int seen = co_await with_lock(gpus, [&](Hold& other) -> awaitable<int> {
        EXPECT_NE(other.owner(), one.owner());
        co_return static_cast<int>(co_await gpus.async_available(use_awaitable));
      });
      EXPECT_EQ(seen, 0);
    }
    EXPECT_EQ(co_await gpus.async_available(use_awaitable), 2);
  }());
}

}  // namespace
}  // namespace holdfast::test::async_counting_test
