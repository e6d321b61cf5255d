// SPDX-License-Identifier: Apache-2.0
// The asynchronous face of the library, used by a taker: clients on an io_context, and threads that wait for futures.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <holdfast/async.hpp>

#include "taker_face.hpp"

namespace holdfast::test {

namespace asio = boost::asio;

/// An io_context that one thread runs. Destruction waits until it is out of work: all clients on it must be closed.
class TakerContext {
 public:
  TakerContext() = default;
  ~TakerContext() {
    guard_.reset();
    thread_.join();
  }
  TakerContext(const TakerContext&) = delete;
  TakerContext& operator=(const TakerContext&) = delete;

  asio::io_context& get() { return context_; }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  std::thread thread_{[this] { context_.run(); }};
};

/// The hold is the owner. Operations are started by the taker's threads, which never block in the library; a stop token
/// becomes a cancellation of the operation, so the library is not given it.
class AsyncFace final : public HoldFace {
 public:
  explicit AsyncFace(TakerContext& context) : context_(context.get()) {}

  Client make_client(Config config) override { return client_on(context_, std::move(config)); }
  void close(Client& client) override { client.async_close(future_).get(); }

  bool force_release(KeyLock lock) override { return result_of(lock.async_force_release(future_)); }
  bool is_locked(KeyLock lock) override { return result_of(lock.async_is_locked(future_)); }
  std::optional<std::chrono::milliseconds> remaining(KeyLock lock) override {
    return result_of(lock.async_remaining(future_));
  }

 private:
  template <class Result>
  using Future = std::future<std::tuple<Failure, Result>>;

  template <class Result>
  static Result result_of(Future<Result> future) {
    auto [failure, result] = future.get();
    if (failure) throw Error(failure.error());
    return std::move(result);
  }

  std::optional<Hold> acquire(BasicLock lock, AcquireOptions options) override {
    const std::stop_token stop = std::exchange(options.stop, {});
    if (options.wait) return cancelled_by(stop, [&](auto token) { return lock.async_try_acquire(options, token); });
    return cancelled_by(stop, [&](auto token) { return lock.async_acquire(options, token); });
  }
  ReleaseOutcome release(Hold& hold) override { return std::get<0>(hold.async_release(future_).get()); }

  /// The result of an operation that is cancelled on the thread of the io_context: when `stop` says so, or if it has
  /// said so before, right after its start, before anything else runs there.
  template <class Start>
  std::optional<Hold> cancelled_by(const std::stop_token& stop, Start start) {
    const auto signal = std::make_shared<asio::cancellation_signal>();
    const auto token = asio::bind_cancellation_slot(signal->slot(), future_);
    const auto cancel = [signal] { signal->emit(asio::cancellation_type::all); };
    if (stop.stop_requested()) {
      const auto both = asio::use_future([&] {
        auto future = start(token);
        cancel();
        return future;
      });
      return result_of(asio::post(asio::bind_executor(context_, both)).get());
    }
    auto future = start(token);
    const std::stop_callback when_stopped(stop, [&] { asio::post(context_, cancel); });
    return result_of(std::move(future));
  }

  asio::io_context& context_;
  /// Completes on the thread of the io_context, where cancellation signals are emitted too: they are not thread-safe.
  /// By itself use_future would complete on Asio's system executor. A Failure comes as a value: the thread sanitizer
  /// takes an exception that passes between threads for a race, since it does not see libstdc++'s count of it.
  const asio::executor_binder<asio::as_tuple_t<asio::use_future_t<>>, asio::io_context::executor_type> future_ =
      asio::bind_executor(context_, asio::as_tuple(asio::use_future));
};

}  // namespace holdfast::test
