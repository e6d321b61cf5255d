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

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/disposition.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/version.hpp>

#include <holdfast/detail/hold_access.hpp>
#include <holdfast/detail/initiate.hpp>
#include <holdfast/detail/operation.hpp>
#include <holdfast/holdfast.hpp>

template <>
struct boost::asio::disposition_traits<holdfast::Failure> {
  static bool not_an_error(const holdfast::Failure& failure) noexcept { return !failure; }
  [[noreturn]] static void throw_exception(const holdfast::Failure& failure) { throw holdfast::Error(failure.error()); }
  static std::exception_ptr to_exception_ptr(const holdfast::Failure& failure) noexcept {
    return failure ? std::make_exception_ptr(failure.error()) : nullptr;
  }
};

namespace holdfast {

// Functions that pass Boost objects are in a namespace named after Boost's version. An undefined symbol there means
// that the library was built with another Boost.
#define HOLDFAST_JOIN_(a, b) a##b
#define HOLDFAST_JOIN(a, b) HOLDFAST_JOIN_(a, b)
#define HOLDFAST_BOOST HOLDFAST_JOIN(boost_, BOOST_VERSION)

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

namespace detail {

inline namespace HOLDFAST_BOOST {
/// The io_context of a client made by client_on(), otherwise null.
HOLDFAST_EXPORT boost::asio::io_context* home(const std::shared_ptr<engine::Core>& core);
HOLDFAST_EXPORT boost::asio::io_context* home(const PartsPtr& parts);
HOLDFAST_EXPORT boost::asio::io_context* home(const std::shared_ptr<engine::Claim>& held);
}  // namespace HOLDFAST_BOOST

/// The result of a coroutine, which may be void.
template <class Value>
struct Box {
  std::optional<Value> value;
  template <class Coroutine>
  Coroutine fill(auto& body, Hold& hold) {
    value.emplace(co_await body(hold));
  }
  Value take() { return std::move(*value); }
};
template <>
struct Box<void> {
  template <class Coroutine>
  Coroutine fill(auto& body, Hold& hold) {
    co_await body(hold);
  }
  void take() {}
};

}  // namespace detail

template <class Token>
auto BasicLock::async_acquire(AcquireOptions options, Token&& token) const {
  return detail::initiate<Failure, Hold>(
      detail::home(parts_),
      [parts = parts_, options = std::move(options)](auto receiver) mutable {
        return detail::make_acquire(parts, std::move(options), std::move(receiver));
      },
      std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, AcquireOptions>)
auto BasicLock::async_acquire(Token&& token) const {
  return async_acquire(AcquireOptions(), std::forward<Token>(token));
}

template <class Token>
auto BasicLock::async_try_acquire(AcquireOptions options, Token&& token) const {
  return detail::initiate<Failure, MaybeHold>(
      detail::home(parts_),
      [parts = parts_, options = std::move(options)](auto receiver) mutable {
        return detail::make_try_acquire(parts, std::move(options), std::move(receiver));
      },
      std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, AcquireOptions>)
auto BasicLock::async_try_acquire(Token&& token) const {
  return async_try_acquire(AcquireOptions(), std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_is_locked(Token&& token) const {
  return detail::initiate<Failure, bool>(
      detail::home(parts()),
      [parts = parts()](auto receiver) { return detail::make_is_locked(parts, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_is_held_by(std::string owner, Token&& token) const {
  return detail::initiate<Failure, bool>(
      detail::home(parts()),
      [parts = parts(), owner = std::move(owner)](auto receiver) {
        return detail::make_is_held_by(parts, owner, std::move(receiver));
      },
      std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_remaining(Token&& token) const {
  return detail::initiate<Failure, std::optional<std::chrono::milliseconds>>(
      detail::home(parts()),
      [parts = parts()](auto receiver) { return detail::make_remaining(parts, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_info(Detail detail, Token&& token) const {
  return detail::initiate<Failure, LockInfo>(
      detail::home(parts()),
      [parts = parts(), detail](auto receiver) { return detail::make_info(parts, detail, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, Detail>)
auto KeyLock::async_info(Token&& token) const {
  return async_info(Detail::holder, std::forward<Token>(token));
}

template <class Token>
  requires(!std::convertible_to<Token, std::string>)
auto KeyLock::async_force_release(Token&& token) const {
  return detail::initiate<Failure, bool>(
      detail::home(parts()),
      [parts = parts()](auto receiver) { return detail::make_force_release(parts, std::move(receiver)); },
      std::forward<Token>(token), detail::kReleases);
}

template <class Token>
auto KeyLock::async_force_release(std::string owner, Token&& token) const {
  auto make = [parts = parts(), owner = std::move(owner)](auto receiver) {
    return detail::make_force_release(parts, owner, std::move(receiver));
  };
  return detail::initiate<Failure, bool>(detail::home(parts()), std::move(make), std::forward<Token>(token),
                                         detail::kReleases);
}

template <class Token>
auto Hold::async_release(Token&& token) {
  const std::shared_ptr<engine::Claim> held = held_;
  outcome_ = ReleaseOutcome::unknown;
  auto make = [hold = std::move(*this)](auto receiver) mutable {
    return detail::make_release(std::move(hold), std::move(receiver));
  };
  return detail::initiate<ReleaseOutcome>(detail::home(held), std::move(make), std::forward<Token>(token),
                                          detail::kReleases);
}

template <class Token>
auto Hold::async_wait_lost(Token&& token) const {
  return detail::initiate<Failure, LossReason>(
      detail::home(held_), [held = held_](auto receiver) { return detail::make_wait_lost(held, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto Client::async_ping(Token&& token) const {
  return detail::initiate<Failure>(
      detail::home(core_), [core = core_](auto receiver) { return detail::make_ping(core, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto Client::async_list(std::string pattern, Detail detail, Listed what, Token&& token) const {
  return detail::initiate<Failure, std::vector<LockInfo>>(
      detail::home(core_),
      [core = core_, pattern = std::move(pattern), detail, what](auto receiver) {
        return detail::make_list(core, pattern, detail, what, std::move(receiver));
      },
      std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, Listed>)
auto Client::async_list(std::string pattern, Detail detail, Token&& token) const {
  return async_list(std::move(pattern), detail, Listed::locks, std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, Detail>)
auto Client::async_list(std::string pattern, Token&& token) const {
  return async_list(std::move(pattern), Detail::holder, std::forward<Token>(token));
}

template <class Token>
auto Client::async_close(Token&& token) const {
  return detail::initiate<>(
      detail::home(core_), [core = core_](auto receiver) { return detail::make_close(core, std::move(receiver)); },
      std::forward<Token>(token));
}

/// Acquires the lock, runs `body(hold)`, a coroutine, and releases the lock before it returns, however the body ends
/// and also if it is cancelled. If the lock is lost, the body is cancelled and awaited.
///
/// Returns what the body returns. Throws what acquire() throws; what the body throws; Error(lost) if the lock was lost
/// before the body had ended, or if the release found it gone (what the body threw is nested in it). The release cannot
/// be cancelled and is awaited for at most `Config::release_timeout`; if it is not confirmed in that time, this is not
/// an error, and the lease bounds how long it can matter.
template <class Body>
auto with_lock(BasicLock lock, AcquireOptions options, Body body) -> std::invoke_result_t<Body&, Hold&> {
  namespace asio = boost::asio;
  using Coroutine = std::invoke_result_t<Body&, Hold&>;
  using Executor = typename Coroutine::executor_type;
  constexpr asio::use_awaitable_t<Executor> use_awaitable;

  Hold hold = co_await lock.async_acquire(std::move(options), use_awaitable);
  const std::shared_ptr<engine::Claim> held = detail::HoldAccess::held(hold);
  detail::Box<typename Coroutine::value_type> box;
  std::exception_ptr problem;
  bool lost = false;
  const auto run = [&]() -> asio::awaitable<void, Executor> {
    try {
      co_await box.template fill<asio::awaitable<void, Executor>>(body, hold);
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
  co_return box.take();
}

template <class Body>
auto with_lock(BasicLock lock, Body body) -> std::invoke_result_t<Body&, Hold&> {
  return with_lock(std::move(lock), AcquireOptions(), std::move(body));
}

}  // namespace holdfast

#include <holdfast/detail/async_counting.hpp>
#include <holdfast/detail/async_leader.hpp>
#include <holdfast/detail/async_travel.hpp>

#undef HOLDFAST_BOOST
#undef HOLDFAST_JOIN
#undef HOLDFAST_JOIN_
