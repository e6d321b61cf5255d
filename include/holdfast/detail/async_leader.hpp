// SPDX-License-Identifier: Apache-2.0
// The part of async.hpp that is about leaders. Not for users.
#pragma once

#include <chrono>
#include <exception>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/detail/async_calls.hpp>
#include <holdfast/detail/leading.hpp>

namespace holdfast {

namespace detail {

/// Lets one coroutine await a stop token, which may stop on any thread. Notifies once.
template <class Executor>
class Bell {
 public:
  Bell(const Executor& executor, std::stop_token stop)
      : channel_(executor, 1), on_stop_(std::move(stop), Ring{channel_}) {}

  template <class Token>
  auto async_wait(Token&& token) {
    return channel_.async_receive(std::forward<Token>(token));
  }

 private:
  using Channel = boost::asio::experimental::concurrent_channel<Executor, void(boost::system::error_code)>;
  struct Ring {
    Channel& channel;
    void operator()() const noexcept {
      try {
        channel.try_send(boost::system::error_code());
      } catch (...) {  // no memory: the token itself still shows it
      }
    }
  };

  Channel channel_;
  const std::stop_callback<Ring> on_stop_;
};

/// Whether a coroutine has ended because it was cancelled, and for no other reason.
inline bool says_cancelled(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const boost::asio::multiple_exceptions& several) {
    return says_cancelled(several.first_exception());
  } catch (const boost::system::system_error& error) {
    return error.code() == boost::asio::error::operation_aborted;
  } catch (const Error& error) {
    return error.code() == Errc::cancelled;
  } catch (...) {
    return false;
  }
}

}  // namespace detail

/// The same as Leader::lead, campaign and serve, as coroutines.
class Leader::Async {
 public:
  template <class CoBody>
  using ExecutorOf = typename std::invoke_result_t<CoBody&, const Term&>::executor_type;
  template <class Result, class CoBody>
  using Coroutine = boost::asio::awaitable<Result, ExecutorOf<CoBody>>;

  template <class CoBody>
  static Coroutine<TermEnd, CoBody> lead(Leader& leader, CoBody body, AcquireOptions options) {
    const Call call(leader);
    const std::stop_token stop = options.stop;
    Hold hold = co_await leader.lock_.async_acquire(std::move(options), kUseAwaitable<CoBody>);
    co_return co_await serve(call, body, hold, stop);
  }

  template <class CoBody>
  static Coroutine<void, CoBody> campaign(Leader& leader, CoBody body, CampaignOptions options) {
    namespace asio = boost::asio;
    const Call call(leader);
    const FencedLock lock = leader.lock_;
    const AcquireOptions without_end{.wait = std::chrono::milliseconds::max(), .stop = options.stop};
    while (!options.stop.stop_requested()) {
      auto result = co_await lock.async_acquire(without_end, asio::as_tuple(kUseAwaitable<CoBody>));
      if (const Failure failure = std::get<0>(result)) {
        if (options.stop.stop_requested()) co_return;
        const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
        const bool cancelled = state.cancelled() != asio::cancellation_type::none;
        if (cancelled || !detail::goes_on(failure.error())) throw Error(failure.error());
        if (options.on_trouble) options.on_trouble(failure.error());
        co_await pause<CoBody>(detail::kCampaignPause, options.stop);
        continue;
      }
      const TermEnd end = co_await serve(call, body, std::get<1>(result), options.stop);
      if (end != TermEnd::lost) co_await pause<CoBody>(options.rest, options.stop);
    }
  }

 private:
  template <class CoBody>
  static constexpr boost::asio::use_awaitable_t<ExecutorOf<CoBody>> kUseAwaitable{};

  /// The body always ends before the lock is released: nothing may come in between.
  template <class CoBody>
  static Coroutine<TermEnd, CoBody> serve(const Call& call, CoBody& body, Hold& hold, const std::stop_token& stop) {
    namespace asio = boost::asio;
    std::exception_ptr problem;
    bool asked = false;
    try {
      const Office office(call.desk(), hold, stop);
      const Term term(hold, office.stop(), hold.token().value());
      problem = co_await run(body, term);
      asked = office.stop().stop_requested();
    } catch (...) {
      problem = std::current_exception();  // cancelled before the body began
    }
    // The release must not be refused because the coroutine has been cancelled.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    bool lost = hold.is_lost();
    const ReleaseOutcome outcome =
        co_await hold.async_release(asio::bind_cancellation_slot(asio::cancellation_slot(), kUseAwaitable<CoBody>));
    lost = lost || outcome == ReleaseOutcome::was_lost;
    co_await asio::this_coro::throw_if_cancelled(throws);
    if (problem && !(asked && detail::says_cancelled(problem))) std::rethrow_exception(problem);
    if (lost) co_return TermEnd::lost;
    co_return asked ? TermEnd::stepped_down : TermEnd::finished;
  }

  /// Runs the body, and cancels it when it is to end. Returns what it threw.
  template <class CoBody>
  static Coroutine<std::exception_ptr, CoBody> run(CoBody& body, const Term& term) {
    namespace asio = boost::asio;
    using Executor = ExecutorOf<CoBody>;
    const Executor executor = co_await asio::this_coro::executor;
    std::exception_ptr problem;
    const auto guarded = [&]() -> asio::awaitable<void, Executor> {
      try {
        co_await body(term);
      } catch (...) {
        problem = std::current_exception();
      }
    };
    detail::Bell<Executor> asked(executor, term.stop_token());
    const std::tuple ended = co_await asio::experimental::make_parallel_group(
                                 asio::co_spawn(executor, guarded(), asio::deferred),
                                 asked.async_wait(asio::bind_executor(executor, asio::deferred)))
                                 .async_wait(asio::experimental::wait_for_one(), kUseAwaitable<CoBody>);
    co_return problem ? problem : std::get<1>(ended);  // or it did not even begin
  }

  /// Ends early once it is stopped.
  template <class CoBody>
  static Coroutine<void, CoBody> pause(std::chrono::milliseconds time, const std::stop_token& stop) {
    namespace asio = boost::asio;
    using Executor = ExecutorOf<CoBody>;
    const Executor executor = co_await asio::this_coro::executor;
    using Clock = std::chrono::steady_clock;
    asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor> timer(executor, time);
    detail::Bell<Executor> stopped(executor, stop);
    co_await asio::experimental::make_parallel_group(timer.async_wait(asio::bind_executor(executor, asio::deferred)),
                                                     stopped.async_wait(asio::bind_executor(executor, asio::deferred)))
        .async_wait(asio::experimental::wait_for_one(), kUseAwaitable<CoBody>);
  }
};

template <class CoBody>
auto Leader::async_lead(CoBody body, AcquireOptions options) {
  return Async::lead(*this, std::move(body), std::move(options));
}

template <class CoBody>
auto Leader::async_lead(CoBody body) {
  return Async::lead(*this, std::move(body), AcquireOptions());
}

template <class CoBody>
auto Leader::async_campaign(CoBody body, CampaignOptions options) {
  return Async::campaign(*this, std::move(body), std::move(options));
}

template <class CoBody>
auto Leader::async_campaign(CoBody body) {
  return Async::campaign(*this, std::move(body), CampaignOptions());
}

}  // namespace holdfast
