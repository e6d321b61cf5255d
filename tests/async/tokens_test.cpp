// SPDX-License-Identifier: Apache-2.0
// The operations as Asio's operations: every kind of token, the handler's executor and allocator, and when it is
// called.
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/redirect_disposition.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include "async.hpp"

namespace holdfast::test::tokens_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Tokens : public BothHomes {
 protected:
  Client client = make_client();
  Lock lock = client.lock("orders");
};

TEST_P(Tokens, AnAwaitableGivesTheHoldAndTheOutcome) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire({.lease = fixed(10s)}, use_awaitable);
    EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
    EXPECT_EQ(co_await hold.async_release(use_awaitable), ReleaseOutcome::released);
    EXPECT_FALSE(raw.exists("orders"));
    EXPECT_FALSE(hold);
    EXPECT_EQ(hold.release(), ReleaseOutcome::empty) << "the outcome went to the operation";
  }());
}

TEST_P(Tokens, AnAwaitableThrowsTheLibrarysErrorWithItsParts) {
  run([&]() -> awaitable<void> {
    const Hold hold = co_await lock.async_acquire();
    std::optional<Error> error;
    try {
      co_await lock.async_acquire({.wait = 20ms}, use_awaitable);
    } catch (const Error& thrown) {
      error = thrown;
    }
    EXPECT_THAT(error, IsError(Errc::timed_out, "orders", client.node(), "held by this process"));
  }());
}

TEST_P(Tokens, ATupleGivesTheFailureAsAValue) {
  run([&]() -> awaitable<void> {
    auto [none, hold] = co_await lock.async_acquire(asio::as_tuple(use_awaitable));
    EXPECT_FALSE(none);
    EXPECT_EQ(none.code(), std::error_code());
    EXPECT_STREQ(none.what(), "");
    EXPECT_TRUE(hold);
    auto [failure, nothing] = co_await lock.async_acquire({.wait = 0ms}, asio::as_tuple(use_awaitable));
    EXPECT_TRUE(failure);
    EXPECT_EQ(failure, Errc::timed_out);
    EXPECT_EQ(failure, std::errc::timed_out);
    EXPECT_THAT(failure.what(), HasSubstr("\"orders\""));
    EXPECT_FALSE(nothing);
    Failure redirected;
    co_await lock.async_acquire({.wait = 0ms}, asio::redirect_disposition(use_awaitable, redirected));
    EXPECT_EQ(redirected, Errc::timed_out);
  }());
}

TEST_P(Tokens, TryingIsEmptyWhereAcquiringFails) {
  run([&]() -> awaitable<void> {
    std::optional<Hold> first = co_await lock.async_try_acquire();
    EXPECT_TRUE(first);
    EXPECT_EQ(co_await lock.async_try_acquire(), std::nullopt);
    EXPECT_EQ(co_await lock.async_try_acquire({.wait = 10ms}, use_awaitable), std::nullopt);
    std::stop_source stop;
    stop.request_stop();
    const AcquireOptions stopped{.stop = stop.get_token()};  // by a name: see docs/async.md, "Compilers"
    EXPECT_EQ(co_await lock.async_try_acquire(stopped), std::nullopt);
    raw.command("SET", "other", "a string");
    auto [failure, hold] = co_await client.lock("other").async_try_acquire(asio::as_tuple(use_awaitable));
    EXPECT_EQ(failure, Errc::wrong_type);
  }());
}

TEST_P(Tokens, WithoutATokenItIsDeferred) {
  run([&]() -> awaitable<void> {
    auto operation = lock.async_acquire({.wait = 5s});
    EXPECT_FALSE(raw.exists("orders")) << "nothing begins before it is awaited";
    Hold hold = co_await std::move(operation);
    EXPECT_TRUE(raw.exists("orders"));
    {
      auto release = hold.async_release();
      EXPECT_FALSE(hold) << "the hold is in the operation";
    }
    EXPECT_TRUE(co_await soon([&] { return !raw.exists("orders"); })) << "which gives it back when it is not started";
  }());
}

TEST_P(Tokens, AFutureIsFulfilledAndThrows) {
  std::jthread thread([&] {
    const auto work = asio::make_work_guard(context);
    context.run();
  });
  std::future<Hold> held = lock.async_acquire(asio::use_future);
  ASSERT_TRUE(ready(held));
  Hold hold = held.get();
  std::future<Hold> failed = lock.async_acquire({.wait = 10ms}, asio::use_future);
  ASSERT_TRUE(ready(failed));
  EXPECT_THAT(error_of([&] { return failed.get(); }),
              IsError(Errc::timed_out, "orders", client.node(), "held by this process"));
  EXPECT_EQ(hold.async_release(asio::use_future).get(), ReleaseOutcome::released);
  client.async_close(asio::use_future).get();
  context.stop();
}

TEST_P(Tokens, ACallbackIsCalledOnceAndNotFromTheCallThatStarts) {
  int calls = 0;
  std::optional<Hold> hold;
  bool inside = true;
  lock.async_acquire(asio::bind_executor(context, [&](const Failure& failure, Hold held) {
    EXPECT_FALSE(inside);
    EXPECT_FALSE(failure);
    ++calls;
    hold = std::move(held);
  }));
  inside = false;
  EXPECT_TRUE(turn_until([&] { return calls > 0; }));
  // What fails before anything is sent does not come at once either.
  inside = true;
  const auto bad_options = [&](const Failure& failure, const Hold&) {
    EXPECT_FALSE(inside);
    EXPECT_EQ(failure, Errc::invalid_argument);
    ++calls;
  };
  lock.async_acquire({.lease = fixed(1ms)}, asio::bind_executor(context, bad_options));
  inside = false;
  EXPECT_TRUE(turn_until([&] { return calls > 1; }));
  close(client);
  inside = true;
  lock.async_acquire(asio::bind_executor(context, [&](const Failure& failure, const Hold&) {
    EXPECT_FALSE(inside);
    EXPECT_EQ(failure, Errc::closed);
    ++calls;
  }));
  inside = false;
  EXPECT_TRUE(turn_until([&] { return calls > 2; }));
  EXPECT_EQ(calls, 3);
}

TEST_P(Tokens, AHandlerMayBeOneThatOnlyMoves) {
  bool called = false;
  lock.async_acquire(
      asio::bind_executor(context, [&called, only = std::make_unique<int>(1)](const Failure&, const Hold& hold) {
        EXPECT_TRUE(hold);
        called = *only == 1;
      }));
  EXPECT_TRUE(turn_until([&] { return called; }));
}

TEST_P(Tokens, TheHandlerRunsWhereItsExecutorSays) {
  asio::thread_pool elsewhere(1);
  std::thread::id pool_thread;
  asio::post(elsewhere, asio::use_future([&] { pool_thread = std::this_thread::get_id(); })).get();
  std::atomic<bool> called{false};
  lock.async_acquire(asio::bind_executor(elsewhere, [&](const Failure&, const Hold& hold) {
    EXPECT_EQ(std::this_thread::get_id(), pool_thread);
    EXPECT_TRUE(hold);
    called = true;
  }));
  EXPECT_TRUE(turn_until([&] { return called.load(); }));
  elsewhere.join();
}

TEST_P(Tokens, AnExecutorHasWorkUntilTheHandlerHasRun) {
  asio::io_context elsewhere;
  bool called = false;
  const auto held = [&](const Failure&, const Hold&) { called = true; };
  lock.async_acquire(asio::bind_executor(elsewhere, held));
  std::jthread other([&] { elsewhere.run(); });  // does not return before
  const bool returned = turn_until([&] { return elsewhere.stopped(); });
  EXPECT_TRUE(returned);
  other.join();
  EXPECT_TRUE(called);
}

/// A context's executor that notes on which threads work on it has ended.
class Noting {
 public:
  struct Notes {
    std::mutex mutex;
    std::set<std::thread::id> ended;
  };
  Noting(asio::io_context& context, Notes& notes, bool tracked = false)
      : context_(&context), notes_(&notes), tracked_(tracked) {}
  Noting(const Noting&) noexcept = default;
  Noting(Noting&& other) noexcept
      : context_(other.context_), notes_(other.notes_), tracked_(std::exchange(other.tracked_, false)) {}
  Noting& operator=(const Noting&) = delete;
  ~Noting() {
    if (!tracked_) return;
    const std::scoped_lock guard(notes_->mutex);
    notes_->ended.insert(std::this_thread::get_id());
  }
  bool operator==(const Noting&) const noexcept = default;

  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
  asio::execution::outstanding_work_t query(asio::execution::outstanding_work_t) const noexcept {
    using asio::execution::outstanding_work;
    return tracked_ ? asio::execution::outstanding_work_t(outstanding_work.tracked) : outstanding_work.untracked;
  }
  Noting require(asio::execution::blocking_t::never_t) const { return *this; }
  Noting require(asio::execution::outstanding_work_t::tracked_t) const { return {*context_, *notes_, true}; }
  Noting require(asio::execution::outstanding_work_t::untracked_t) const { return {*context_, *notes_}; }
  template <class Function>
  void execute(Function&& function) const {
    asio::post(*context_, std::forward<Function>(function));
  }

 private:
  asio::io_context* context_;
  Notes* notes_;
  bool tracked_;
};

/// Where the last work of a context ends, the context is stopped; if that is another thread, then perhaps after it was
/// restarted.
TEST_P(Tokens, WorkEndsWhereTheHandlerRuns) {
  Noting::Notes notes;
  bool called = false;
  client.async_ping(asio::bind_executor(Noting(context, notes), [&](const Failure&) { called = true; }));
  EXPECT_TRUE(turn_until([&] { return called; }));
  close(client);
  EXPECT_THAT(notes.ended, testing::ElementsAre(std::this_thread::get_id()));
}

/// Counts what is taken from it and given back.
template <class T>
struct Counting {
  using value_type = T;
  explicit Counting(std::shared_ptr<std::atomic<long>> balance) : bytes(std::move(balance)) {}
  template <class U>
  explicit(false) Counting(const Counting<U>& other) : bytes(other.bytes) {}
  T* allocate(std::size_t n) {
    *bytes += static_cast<long>(n * sizeof(T));
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* place, std::size_t n) {
    *bytes -= static_cast<long>(n * sizeof(T));
    std::allocator<T>().deallocate(place, n);
  }
  template <class U>
  friend bool operator==(const Counting& a, const Counting<U>& b) {
    return a.bytes == b.bytes;
  }
  std::shared_ptr<std::atomic<long>> bytes;  // a client with a thread of its own gives back on that
};

TEST_P(Tokens, TheHandlersAllocatorIsUsedAndHasItAllBackWhenTheHandlerRuns) {
  const auto bytes = std::make_shared<std::atomic<long>>(0);
  bool called = false;
  long while_called = -1;
  auto handler = [&](const Failure&, const Hold&) {
    called = true;
    while_called = *bytes;
  };
  lock.async_acquire(asio::bind_allocator(Counting<int>(bytes), asio::bind_executor(context, std::move(handler))));
  EXPECT_GT(*bytes, 0);
  EXPECT_TRUE(turn_until([&] { return called; }));
  EXPECT_EQ(while_called, 0);
  EXPECT_EQ(*bytes, 0);
}

/// A token inside a token inside a token; with handlers that may not be asked for anything once they have moved.
TEST_P(Tokens, TokensMayBePiledUp) {
  const auto bytes = std::make_shared<std::atomic<long>>(0);
  bool called = false;
  auto handler = [&](const Failure&, const Hold& hold) { called = static_cast<bool>(hold); };
  lock.async_acquire(asio::cancel_after(
      20s, asio::bind_allocator(Counting<int>(bytes), asio::bind_executor(context, std::move(handler)))));
  EXPECT_TRUE(turn_until([&] { return called; }));
  EXPECT_EQ(*bytes, 0);
}

TEST_P(Tokens, QuestionsAreAnsweredAsByTheBlockingCalls) {
  run([&]() -> awaitable<void> {
    co_await client.async_ping();
    EXPECT_FALSE(co_await lock.async_is_locked());
    EXPECT_EQ(co_await lock.async_remaining(), std::nullopt);
    EXPECT_FALSE(co_await lock.async_force_release());
    Hold hold = co_await lock.async_acquire();
    EXPECT_TRUE(co_await lock.async_is_locked());
    EXPECT_TRUE(co_await lock.async_is_held_by(hold.owner()));
    EXPECT_FALSE(co_await lock.async_is_held_by("somebody:1"));
    EXPECT_THAT(co_await lock.async_remaining(), testing::Optional(testing::Gt(0ms)));
    const LockInfo info = co_await lock.async_info();
    EXPECT_EQ(info.owner, hold.owner());
    EXPECT_EQ(info.name, "orders");
    EXPECT_EQ(info.holds, 1);
    EXPECT_TRUE(info.holder);
    const LockInfo brief = co_await lock.async_info(InfoDetail::owner);
    EXPECT_EQ(brief.owner, hold.owner());
    EXPECT_FALSE(brief.holder) << "not asked for";
    EXPECT_FALSE((co_await lock.async_info(InfoDetail::owner, use_awaitable)).holder);
    const std::vector<LockInfo> all = co_await client.async_list("ord*");
    EXPECT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().owner, hold.owner());
    EXPECT_TRUE(all.front().holder);
    EXPECT_FALSE((co_await client.async_list("ord*", InfoDetail::owner)).front().holder);
    EXPECT_FALSE((co_await client.async_list("ord*", InfoDetail::owner, use_awaitable)).front().holder);
    EXPECT_FALSE(co_await lock.async_force_release("somebody:1"));
    EXPECT_TRUE(co_await lock.async_force_release(hold.owner()));
    EXPECT_FALSE(co_await lock.async_is_locked());
    EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::was_lost);
    hold = co_await lock.async_acquire();
    EXPECT_TRUE(co_await lock.async_force_release());
    EXPECT_FALSE(co_await lock.async_is_locked());
    raw.command("SET", "other", "a string");
    auto [failure, locked] = co_await client.lock("other").async_is_locked(asio::as_tuple(use_awaitable));
    EXPECT_EQ(failure, Errc::wrong_type);
    auto [empty, reason] = co_await Hold().async_wait_lost(asio::as_tuple(use_awaitable));
    EXPECT_EQ(empty, Errc::not_owner);
    EXPECT_EQ(co_await Hold().async_release(), ReleaseOutcome::empty);
  }());
}

TEST_P(Tokens, DefaultsOfTheHandleAreThoseOfItsOperations) {
  run([&]() -> awaitable<void> {
    const Lock brief = client.lock("orders", {.wait = 20ms, .lease = fixed(5s)});
    Hold hold = co_await brief.async_acquire();
    EXPECT_THAT(co_await brief.async_remaining(), testing::Optional(testing::Le(5000ms)));
    auto [failure, none] = co_await brief.async_acquire(asio::as_tuple(use_awaitable));
    EXPECT_EQ(failure, Errc::timed_out);
    co_await hold.async_release();
    hold = co_await brief.async_acquire({.lease = fixed(60s)});
    EXPECT_THAT(co_await brief.async_remaining(), testing::Optional(testing::Gt(5000ms))) << "what the call says wins";
  }());
}

TEST_P(Tokens, AllKindsOfLocksHaveThem) {
  run([&]() -> awaitable<void> {
    RedisServer second, third;
    Client b = make_client(quick_config(second.url()));
    Client c = make_client(quick_config(third.url()));
    std::vector<BasicLock> all{client.lock("a"), client.simple_lock("b"), client.multi_lock({"c", "d"}),
                               MultiLock({client.lock("e"), b.lock("e")}),
                               RedLock({client.lock("f"), b.lock("f"), c.lock("f")})};
    for (const BasicLock& each : all) {
      Hold hold = co_await each.async_acquire();
      EXPECT_GT(hold.valid_for(), 0ms);
      EXPECT_EQ(co_await each.async_try_acquire(), std::nullopt);
      EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::released);
    }
    co_await b.async_close();
    co_await c.async_close();
  }());
}

HOLDFAST_BOTH_HOMES(Tokens);

}  // namespace
}  // namespace holdfast::test::tokens_test
