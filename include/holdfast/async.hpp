// SPDX-License-Identifier: Apache-2.0
// The same locks for Boost.Asio: completion tokens, per-operation cancellation, coroutines. The only public header that
// needs Boost, in the version that the library was built with. See docs/async.md for lifetimes and threading.
//
// The operations are members, such as Lock::async_acquire, Hold::async_release and Client::async_close. All of them:
// - complete through the handler's executor, never inside the initiating call. A handler without an executor of its own
//   runs on the client's io_context or, if the client has its own thread, on Asio's system executor;
// - count as outstanding work of that executor, and use the handler's allocator for what they allocate here;
// - honour the handler's cancellation slot: acquires and queries for every kind of cancellation (a cancelled acquire
//   leaves nothing on the server), releases for `terminal` and `partial`, and they continue in the background;
// - end with the execution context that their handler runs on, if that is destroyed first: the handler is destroyed and
//   not called. (An executor that does not reveal its context must keep working until they have completed);
// - end when the client closes: with Errc::closed, but async_wait_lost with LossReason::closed, and async_release with
//   its outcome, as far as it is known. async_close waits for that.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#if !__has_include(<boost/asio/awaitable.hpp>)
#error \
    "holdfast/async.hpp needs the headers of Boost, of the version that pkg-config --variable=boost holdfast-async says: add their folder with -isystem"
#endif

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/detail/async_calls.hpp>
#include <holdfast/detail/async_counting.hpp>
#include <holdfast/detail/async_leader.hpp>

namespace holdfast {

inline namespace HOLDFAST_BOOST {

/// A client on the caller's io_context: it has no thread of its own; everything runs where `context.run()` is called,
/// by one thread or several. Only the calls of this header may be used: a blocking call could deadlock on the loop its
/// own thread must run, so the blocking ones throw Error(would_deadlock), Hold::release() returns `unknown` and goes on
/// (`released` if the lock is passed on inside the client), and the end of a Hold does not wait. Callbacks (observer,
/// on_lost, stop callbacks) also run on the io_context. (Resolving a host name uses a separate thread while it lasts.)
/// While the client is open, `context.run()` does not return for lack of work: see async_close. close() and destruction
/// only start closing. While replies take less than 0.3 ms and one thread runs the context, it does not sleep for 60 us
/// after each write, so a call of `context.poll()` may take that much longer. The io_context must outlive the client,
/// its locks and holds. Throws as Client's constructors do.
HOLDFAST_EXPORT Client client_on(boost::asio::io_context& context, Config config);
HOLDFAST_EXPORT Client client_on(boost::asio::io_context& context, std::string_view url);

}  // namespace HOLDFAST_BOOST

/// Acquires the lock, runs `body(hold)`, a coroutine, and releases the lock before it returns, however the body ends
/// and also if it is cancelled. If the lock is lost, the body is cancelled and awaited.
///
/// Returns what the body returns. Throws what acquire() throws; what the body throws; Error(lost) if the lock was lost
/// before the body had ended, or if the release found it gone (what the body threw is nested in it). The release cannot
/// be cancelled and is awaited for at most `Timing::release_timeout`; if it is not confirmed in that time, this is not
/// an error, and the lease bounds how long it can matter.
template <class Body>
auto with_lock(BasicLock lock, AcquireOptions options, Body body) -> std::invoke_result_t<Body&, Hold&> {
  namespace asio = boost::asio;
  using Coroutine = std::invoke_result_t<Body&, Hold&>;
  using Executor = typename Coroutine::executor_type;
  using Value = typename Coroutine::value_type;
  constexpr bool kReturns = !std::is_void_v<Value>;
  constexpr asio::use_awaitable_t<Executor> use_awaitable;

  Hold hold = co_await lock.async_acquire(std::move(options), use_awaitable);
  const std::shared_ptr<engine::Claim> held = detail::HoldAccess::held(hold);
  [[maybe_unused]] std::optional<std::conditional_t<kReturns, Value, bool>> value;
  std::exception_ptr problem;
  bool lost = false;
  const auto run = [&]() -> asio::awaitable<void, Executor> {
    try {
      if constexpr (kReturns) {
        value.emplace(co_await body(hold));
      } else {
        co_await body(hold);
      }
    } catch (...) {
      problem = std::current_exception();
    }
  };
  try {
    const Executor executor = co_await asio::this_coro::executor;
    const std::tuple ended = co_await asio::experimental::make_parallel_group(
                                 asio::co_spawn(executor, run(), asio::deferred),
                                 hold.async_wait_lost(asio::bind_executor(executor, asio::deferred)))
                                 .async_wait(asio::experimental::wait_for_one_success(), use_awaitable);
    const std::exception_ptr escaped = std::get<1>(ended);
    lost = !std::get<2>(ended);
    if (escaped && !problem) problem = escaped;  // the body did not even begin
  } catch (...) {
    problem = std::current_exception();  // cancelled before the body began
  }
  // The release must not be refused because the coroutine has been cancelled.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  if (hold) {
    lost = lost || hold.valid_for() <= std::chrono::milliseconds{};
    const ReleaseOutcome outcome =
        co_await hold.async_release(asio::bind_cancellation_slot(asio::cancellation_slot(), use_awaitable));
    lost = lost || outcome == ReleaseOutcome::was_lost;
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (lost) detail::throw_lost(*held, problem);
  if (problem) std::rethrow_exception(problem);
  if constexpr (kReturns) co_return std::move(*value);
}

template <class Body>
auto with_lock(BasicLock lock, Body body) -> std::invoke_result_t<Body&, Hold&> {
  return with_lock(std::move(lock), AcquireOptions(), std::move(body));
}

}  // namespace holdfast

#undef HOLDFAST_BOOST
#undef HOLDFAST_JOIN
#undef HOLDFAST_JOIN_
