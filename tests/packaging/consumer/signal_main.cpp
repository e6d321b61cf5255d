// SPDX-License-Identifier: Apache-2.0
// A signal that is awaited while a coroutine holds a lock: with two copies of Asio's static data it would never come.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <holdfast/async.hpp>

namespace asio = boost::asio;

asio::awaitable<int> work(holdfast::Client& client, asio::signal_set& signals) {
  const holdfast::Lock lock = client.lock("consumer");
  holdfast::Hold hold = co_await lock.async_acquire(asio::use_awaitable);
  std::raise(SIGUSR1);
  const int signal = co_await signals.async_wait(asio::use_awaitable);
  const auto outcome = co_await hold.async_release(asio::use_awaitable);
  co_await client.async_close();
  std::printf("%s, signal %d\n", holdfast::to_string(outcome), signal);
  co_return signal;
}

int main() {
  const char* url = std::getenv("HOLDFAST_URL");
  if (url == nullptr) return 2;
  asio::io_context context;
  asio::signal_set signals(context, SIGUSR1);
  holdfast::Client client = holdfast::client_on(context, url);
  int came = 0;
  asio::co_spawn(context, work(client, signals), [&](const std::exception_ptr& problem, int signal) {
    if (problem) std::rethrow_exception(problem);
    came = signal;
  });
  context.run_for(std::chrono::seconds(20));
  return came == SIGUSR1 ? 0 : 1;
}
