// SPDX-License-Identifier: Apache-2.0
// What the tests of the asynchronous face share: a server, an io_context, and coroutines that must come to an end.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async.hpp>

#include "integration/faults.hpp"

namespace holdfast {

inline void PrintTo(const Failure& failure, std::ostream* out) { *out << (failure ? failure.what() : "no failure"); }

}  // namespace holdfast

namespace holdfast::test {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

/// Whose thread a client runs on.
enum class Home { caller, own };
inline void PrintTo(Home home, std::ostream* out) {
  *out << (home == Home::caller ? "OnTheCallersContext" : "OnItsOwn");
}
inline std::string home_name(const testing::TestParamInfo<Home>& info) { return testing::PrintToString(info.param); }

/// Sleeps; cancelled, it throws.
inline awaitable<void> pause(milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(use_awaitable);
}

/// Until the predicate is true; false if that takes too long.
inline awaitable<bool> soon(std::function<bool()> predicate) {
  const auto end = steady_clock::now() + kPatience;
  while (!predicate()) {
    if (steady_clock::now() >= end) co_return false;
    co_await pause(1ms);
  }
  co_return true;
}

class Async : public Faults {
 protected:
  explicit Async(ServerOptions options = {}) : Faults(std::move(options)) {}

  virtual Home home() const { return Home::caller; }
  Client make_client() { return make_client(config()); }
  Client make_client(Config settings) {
    return home() == Home::caller ? client_on(context, std::move(settings)) : Client(std::move(settings));
  }

  /// Runs the context until the coroutine has ended, or too long. Throws what it threw.
  void run(awaitable<void> work) {
    bool ended = false;
    std::exception_ptr problem;
    asio::co_spawn(context, std::move(work), [&](std::exception_ptr thrown) {
      ended = true;
      problem = thrown;
    });
    turn_until([&] { return ended; });
    ASSERT_TRUE(ended) << "the coroutine hangs";
    if (problem) std::rethrow_exception(problem);
  }
  /// Runs the context until the predicate is true; false if that takes too long.
  bool turn_until(const std::function<bool()>& predicate, milliseconds limit = kPatience) {
    const auto end = steady_clock::now() + limit;
    context.restart();
    bool done = predicate();
    while (!done && steady_clock::now() < end) {
      context.run_one_for(20ms);
      context.restart();
      done = predicate();
    }
    return done;
  }
  /// Closes the clients; then nothing may be left on the context.
  void close(Client& client) { close({&client}); }
  void close(std::initializer_list<Client*> clients) {
    for (Client* client : clients) run(client->async_close(use_awaitable));
    context.restart();
    const auto end = steady_clock::now() + kPatience;
    while (context.run_one_until(end) > 0) {
    }
    EXPECT_LT(steady_clock::now(), end) << "a closed client still has work on the context";
  }

  /// Timers that Asio makes for a client with its own thread run on the system executor. Its threads may be about to
  /// leave the context when the test has ended, and nobody can wait for them.
  void keep_context_for_ever() {
    static auto* const kept = new std::vector<std::unique_ptr<asio::io_context>>;
    kept->push_back(std::move(owned_));
  }

 private:
  std::unique_ptr<asio::io_context> owned_ = std::make_unique<asio::io_context>(1);

 protected:
  asio::io_context& context = *owned_;
};

/// The same for both kinds of clients.
class BothHomes : public Async, public testing::WithParamInterface<Home> {
 protected:
  ~BothHomes() override {
    if (home() == Home::own) keep_context_for_ever();
  }
  Home home() const override { return GetParam(); }
};
#define HOLDFAST_BOTH_HOMES(suite) \
  INSTANTIATE_TEST_SUITE_P(Client, suite, testing::Values(Home::caller, Home::own), home_name)

}  // namespace holdfast::test
