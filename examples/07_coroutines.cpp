// SPDX-License-Identifier: Apache-2.0
// Coroutines on the caller's io_context: a lock around a coroutine, a limit on waiting, what comes first: the end of
// the work or the loss of the lock; and one leader.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async.hpp>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> pause(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

/// The usual way: the lock is given back however the body ends, and the body is cancelled if the lock is lost.
asio::awaitable<void> sell(holdfast::Lock lock, std::string who, int& tickets) {
  const auto body = [&](holdfast::Hold&) -> asio::awaitable<int> {
    const int left = tickets;  // read, think, write back: two at a time would sell the same ticket
    co_await pause(10ms);
    co_return tickets = left - 1;
  };
  const int left = co_await holdfast::with_lock(lock, body);
  std::cout << "  " << who << " sold a ticket, " << left << " left\n";
}

/// Failure: why an asynchronous call failed. Asio's own means limit the wait; one that is cancelled leaves nothing at
/// the server.
asio::awaitable<void> give_up(holdfast::Lock lock) {
  const auto result = co_await lock.async_acquire(asio::cancel_after(50ms, asio::as_tuple(asio::use_awaitable)));
  const holdfast::Failure& failure = std::get<0>(result);
  std::cout << "  after 50 ms: " << (failure ? failure.code().message() : "has it") << '\n';
}

/// Whichever comes first; the other one is cancelled.
asio::awaitable<void> work_or_lose(holdfast::Hold& hold, std::chrono::milliseconds work) {
  const auto first = co_await (pause(work) || hold.async_wait_lost(asio::use_awaitable));
  if (first.index() == 0) {
    std::cout << "  the work is done\n";
  } else {
    std::cout << "  lost before the work was done: " << to_string(std::get<1>(first)) << '\n';
  }
}

/// Of all candidates one leads. Its body is cancelled when its term is to end, and has ended before another one leads.
asio::awaitable<void> lead(holdfast::Client& client) {
  holdfast::Leader leader{client.fenced_lock("example:chair")};
  const auto body = [&](const holdfast::Term& term) -> asio::awaitable<void> {
    std::cout << "  leads, " << (term.leads() ? "certainly" : "no more") << '\n';
    leader.step_down();  // or another coroutine does, or a signal, or the lock is lost
    co_await pause(1min);
  };
  const holdfast::TermEnd end = co_await leader.async_lead(body);
  std::cout << "  " << to_string(end) << '\n';
}

asio::awaitable<void> run(holdfast::Client& client) {
  co_await client.async_ping();  // no server: said here, once
  std::cout << "three sellers at once\n";
  holdfast::Lock desk = client.lock("example:desk");
  int tickets = 3;
  co_await (sell(desk, "one", tickets) && sell(desk, "two", tickets) && sell(desk, "three", tickets));

  std::cout << "somebody has the desk for long\n";
  // A short lease makes the example short: a renewal, every 200 ms, is what finds a lock gone.
  const holdfast::AcquireOptions short_lease{.lease = holdfast::renewed(600ms)};
  holdfast::Hold hold = co_await desk.async_acquire(short_lease);
  co_await give_up(desk);
  co_await work_or_lose(hold, 20ms);

  std::cout << "somebody breaks the lock\n";
  co_await desk.async_force_release();
  co_await work_or_lose(hold, 1min);
  std::cout << "  release says " << to_string(co_await hold.async_release()) << '\n';

  std::cout << "a candidate\n";
  co_await lead(client);

  co_await client.async_close();  // the last work of the io_context: its run() returns
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  try {
    asio::io_context context;
    holdfast::Client client = holdfast::client_on(context, url ? url : "redis://127.0.0.1:6379");
    asio::co_spawn(context, run(client), [](const std::exception_ptr& problem) {
      if (problem) std::rethrow_exception(problem);
    });
    context.run();
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
    return 1;
  }
}
