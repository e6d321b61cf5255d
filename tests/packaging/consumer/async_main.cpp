// SPDX-License-Identifier: Apache-2.0
// The same with coroutines, on an io_context of this program's.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/async.hpp>

namespace asio = boost::asio;

asio::awaitable<int> work(holdfast::Client& client) {
  const holdfast::Lock lock = client.lock("consumer");
  const auto body = [&](holdfast::Hold&) -> asio::awaitable<bool> { co_return co_await lock.async_is_locked(); };
  const bool locked = co_await holdfast::with_lock(lock, body);
  holdfast::Hold hold = co_await lock.async_acquire({.wait = std::chrono::seconds(5)}, asio::use_awaitable);
  const auto outcome = co_await hold.async_release(asio::use_awaitable);
  std::printf("%s\n", holdfast::to_string(outcome));
  co_await client.async_close();
  co_return locked&& outcome == holdfast::ReleaseOutcome::released ? 0 : 1;
}

int main() {
  const char* url = std::getenv("HOLDFAST_URL");
  if (url == nullptr) return 2;
  asio::io_context context;
  holdfast::Client client = holdfast::client_on(context, url);
  int status = 1;
  asio::co_spawn(context, work(client), [&](const std::exception_ptr& problem, int result) {
    if (problem) std::rethrow_exception(problem);
    status = result;
  });
  context.run();
  return status;
}
