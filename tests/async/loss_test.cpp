// SPDX-License-Identifier: Apache-2.0
// Loss as something to wait for, and with_lock: what it gives back, when it cancels, what it throws.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include "async.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::loss_test {
namespace {

using testing::HasSubstr;
using namespace asio::experimental::awaitable_operators;

class AsyncLoss : public BothHomes {
 protected:
  /// Waits for the loss of a hold; tells why.
  static awaitable<LossReason> loss_of(const Hold& hold) { co_return co_await hold.async_wait_lost(use_awaitable); }

  Client client = make_client();
  Lock lock = client.lock("orders");
};

TEST_P(AsyncLoss, IsToldWithItsReason) {
  run([&]() -> awaitable<void> {
    Hold taken = co_await lock.async_acquire({.lease = renewed(300ms)});
    raw.command("DEL", "orders");
    EXPECT_EQ(co_await loss_of(taken), LossReason::taken);
    EXPECT_TRUE(taken.lost_token().stop_requested());
    EXPECT_EQ(co_await loss_of(taken), LossReason::taken) << "also afterwards, at once";

    Hold expired = co_await lock.async_acquire({.lease = fixed(100ms)});
    EXPECT_EQ(co_await loss_of(expired), LossReason::expired);
    EXPECT_EQ(expired.valid_for(), 0ms);

    Hold capped = co_await lock.async_acquire({.max_hold = 100ms});
    EXPECT_EQ(co_await loss_of(capped), LossReason::max_hold);
    EXPECT_EQ(co_await capped.async_release(), ReleaseOutcome::released);

    Hold closed = co_await lock.async_acquire();
    std::optional<LossReason> reason;
    closed.async_wait_lost(asio::bind_executor(context, [&](const Failure&, LossReason why) { reason = why; }));
    co_await client.async_close();
    const bool told = co_await soon([&] { return reason.has_value(); });
    EXPECT_TRUE(told);
    EXPECT_EQ(reason, LossReason::closed);
  }());
}

TEST_P(AsyncLoss, IsToldByANoticeWithoutARenewal) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire({.lease = fixed(1min)});
    const bool watched = co_await soon([&] { return raw.info("stats", "tracking_total_keys") == "1"; });
    EXPECT_TRUE(watched);
    raw.command("DEL", "orders");
    EXPECT_EQ(co_await loss_of(hold), LossReason::taken);
  }());
}

TEST_P(AsyncLoss, ComesBeforeTheServerCanGiveTheLockAway) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire({.lease = renewed(500ms)});
    server.freeze();  // no renewal comes through; the key lives on until its time is over
    EXPECT_EQ(co_await loss_of(hold), LossReason::expired);
    server.thaw();
    EXPECT_EQ(hold.valid_for(), 0ms);
  }());
}

TEST_P(AsyncLoss, AReleasedHoldIsNeverLost) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire();
    std::optional<Failure> told;
    hold.async_wait_lost(asio::bind_executor(context, [&](const Failure& failure, LossReason) { told = failure; }));
    EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::released);
    const bool ended = co_await soon([&] { return told.has_value(); });
    EXPECT_TRUE(ended) << "the wait ends with the hold";
    EXPECT_EQ(*told, Errc::cancelled);
    EXPECT_THAT(told->what(), HasSubstr("released"));
  }());
}

TEST_P(AsyncLoss, TheWaitCanBeCancelledAndTheHoldIsNone) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire();
    std::tuple result = co_await hold.async_wait_lost(asio::cancel_after(20ms, asio::as_tuple(use_awaitable)));
    EXPECT_EQ(std::get<0>(result), Errc::cancelled);
    EXPECT_GT(hold.valid_for(), 0ms);
    std::variant first = co_await (pause(20ms) || hold.async_wait_lost(use_awaitable));
    EXPECT_EQ(first.index(), 0U);
    EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::released);
  }());
}

class WithLock : public AsyncLoss {
 protected:
  /// What it throws; empty: nothing.
  template <class T>
  static awaitable<std::error_code> code_of(awaitable<T> work) {
    std::error_code code;
    try {
      co_await std::move(work);
    } catch (const Error& error) {
      code = error.code();
    }
    co_return code;
  }
};

TEST_P(WithLock, HoldsTheLockAroundTheBodyAndGivesItBack) {
  run([&]() -> awaitable<void> {
    const auto body = [&](Hold& hold) -> awaitable<std::unique_ptr<std::string>> {
      EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
      co_return std::make_unique<std::string>(hold.name());
    };
    const std::unique_ptr<std::string> result = co_await with_lock(lock, body);
    EXPECT_EQ(*result, "orders");
    EXPECT_FALSE(raw.exists("orders")) << "it has been given back";
    const auto nothing = [&](Hold& hold) -> awaitable<void> {
      EXPECT_LE(hold.valid_for(), 1s);
      co_return;
    };
    co_await with_lock(lock, {.lease = fixed(1s)}, nothing);
    EXPECT_FALSE(raw.exists("orders"));
  }());
}

TEST_P(WithLock, GivesItBackWhenTheBodyThrows) {
  run([&]() -> awaitable<void> {
    const auto body = [&](Hold&) -> awaitable<int> {
      co_await pause(1ms);
      throw std::runtime_error("the body's own");
    };
    std::string what;
    try {
      co_await with_lock(lock, body);
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "the body's own");
    EXPECT_FALSE(raw.exists("orders"));
  }());
}

TEST_P(WithLock, ThrowsWhatAcquiringThrows) {
  put_held_lock(raw, "orders");
  run([&]() -> awaitable<void> {
    bool ran = false;
    const auto body = [&](Hold&) -> awaitable<void> {
      ran = true;
      co_return;
    };
    EXPECT_EQ(co_await code_of(with_lock(lock, {.wait = 20ms}, body)), Errc::timed_out);
    EXPECT_FALSE(ran);
  }());
}

TEST_P(WithLock, CancelsTheBodyWhenTheLockIsLostAndSaysSo) {
  run([&]() -> awaitable<void> {
    bool cancelled = false, finished = false;
    const auto body = [&](Hold& hold) -> awaitable<void> {
      raw.command("DEL", "orders");
      try {
        co_await pause(20s);
      } catch (const boost::system::system_error& error) {
        cancelled = error.code() == asio::error::operation_aborted;
        EXPECT_TRUE(hold.lost_token().stop_requested());
        throw;
      }
      finished = true;
    };
    std::optional<Error> error;
    bool nested = false;
    try {
      co_await with_lock(lock, {.lease = renewed(300ms)}, body);
    } catch (const Error& thrown) {
      error = thrown;
      nested = dynamic_cast<const std::nested_exception*>(&thrown) != nullptr;
    }
    EXPECT_THAT(error, IsError(Errc::lost, "orders", client.node(), testing::IsEmpty()));
    EXPECT_TRUE(nested) << "what the body threw is not swallowed";
    EXPECT_TRUE(cancelled);
    EXPECT_FALSE(finished);
  }());
}

TEST_P(WithLock, SaysSoToWhenTheBodyEndsBeforeAnybodyHasNoticed) {
  run([&]() -> awaitable<void> {
    const auto body = [&](Hold&) -> awaitable<int> {
      raw.command("DEL", "orders");
      co_return 1;
    };
    EXPECT_EQ(co_await code_of(with_lock(lock, {.lease = fixed(10s)}, body)), Errc::lost) << "the release found it";
  }());
}

TEST_P(WithLock, SaysSoToWhenTheBodyNoticedAndEndedQuietly) {
  run([&]() -> awaitable<void> {
    const auto body = [&](Hold& hold) -> awaitable<int> {
      while (hold.valid_for() > 0ms) std::this_thread::sleep_for(1ms);  // the context stands still meanwhile
      co_return 1;
    };
    EXPECT_EQ(co_await code_of(with_lock(lock, {.lease = fixed(100ms)}, body)), Errc::lost);
  }());
}

TEST_P(WithLock, TheBodyMayGiveItBackItself) {
  run([&]() -> awaitable<void> {
    const auto releases = [&](Hold& hold) -> awaitable<int> {
      EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::released);
      co_await pause(10ms);  // and is not cancelled for it
      co_return 1;
    };
    EXPECT_EQ(co_await with_lock(lock, releases), 1);
    std::optional<Hold> kept;
    const auto keeps = [&](Hold& hold) -> awaitable<int> {
      kept = std::move(hold);
      co_return 2;
    };
    EXPECT_EQ(co_await with_lock(lock, keeps), 2);
    EXPECT_THAT(raw.hgetall("orders"), HeldBy(kept->owner()));
  }());
}

/// Cancelled from outside: while it waits for the lock, in the body, and in a body that takes its time.
TEST_P(WithLock, GivesItBackWhenItIsCancelled) {
  run([&]() -> awaitable<void> {
    const auto sleeps = [&](Hold&) -> awaitable<void> { co_await pause(20s); };
    std::variant in_body = co_await (with_lock(lock, sleeps) || pause(50ms));
    EXPECT_EQ(in_body.index(), 1U);
    EXPECT_FALSE(raw.exists("orders")) << "it has been given back before the coroutine ended";

    bool cleaned = false;
    const auto cleans_up = [&](Hold& hold) -> awaitable<void> {
      try {
        co_await pause(20s);
      } catch (const boost::system::system_error&) {
      }
      co_await asio::this_coro::reset_cancellation_state();
      co_await pause(30ms);
      cleaned = hold.valid_for() > 0ms;
    };
    std::variant slowly = co_await (with_lock(lock, cleans_up) || pause(50ms));
    EXPECT_TRUE(cleaned) << "the lock is held until the body has ended";
    EXPECT_FALSE(raw.exists("orders"));

    put_held_lock(raw, "orders");
    std::variant waiting = co_await (with_lock(lock, sleeps) || pause(50ms));
    EXPECT_EQ(waiting.index(), 1U);
    raw.command("DEL", "orders");
  }());
}

HOLDFAST_BOTH_HOMES(AsyncLoss);
HOLDFAST_BOTH_HOMES(WithLock);

}  // namespace
}  // namespace holdfast::test::loss_test
