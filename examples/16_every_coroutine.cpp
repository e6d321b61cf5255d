// SPDX-License-Identifier: Apache-2.0
// The asynchronous calls that 07_coroutines.cpp does not make, once each.
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <stop_token>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/async.hpp>
#include <holdfast/leader.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

asio::awaitable<void> locks(const holdfast::Client& client) {
  const holdfast::Lock lock = client.lock("coroutines:lock");
  const holdfast::AcquireOptions soon{.wait = 20ms}, for_a_while{.lease = holdfast::fixed(5s)};
  {
    const holdfast::MaybeHold first = co_await lock.async_try_acquire();
    const holdfast::MaybeHold second = co_await lock.async_try_acquire(soon);
    expect(first && !second, "one of them");
    const bool locked = co_await lock.async_is_locked();
    expect(co_await lock.async_ask_release() == 0, "nobody listens, so nobody has heard it");
    const bool ours = co_await lock.async_is_held_by(first->owner());
    const auto remaining = co_await lock.async_remaining();
    const holdfast::LockInfo info = co_await lock.async_info();
    expect(locked && ours && remaining > 0ms && info.owner == first->owner(), "as the server has it");
    const auto all = co_await client.async_list("coroutines:*");
    expect(all.size() == 1, "this one");
  }
  holdfast::Hold fixed = co_await lock.async_acquire(for_a_while);
  co_await fixed.async_extend(20s);
  expect(fixed.valid_for() > 10s, "longer");
  holdfast::Hold travelled = co_await lock.async_adopt(fixed.detach());
  co_await travelled.async_release();

  const holdfast::ReadWriteLock shared = client.read_write_lock("coroutines:shared");
  const holdfast::Hold writer = co_await shared.writer().async_acquire();
  co_await shared.async_downgrade(writer);
  const holdfast::MaybeHold reader = co_await shared.reader().async_try_acquire();
  expect(reader.has_value(), "beside the one that wrote");
}

asio::awaitable<void> counting(const holdfast::Client& client) {
  const holdfast::Semaphore semaphore = client.semaphore("coroutines:semaphore");
  co_await semaphore.async_init(2);
  co_await semaphore.async_acquire();
  const bool second = co_await semaphore.async_try_acquire_for(1s);
  const bool third = co_await semaphore.async_try_acquire_for(20ms);
  expect(second && !third, "there are two");
  co_await semaphore.async_release(2);
  co_await semaphore.async_add(1);
  const auto available = co_await semaphore.async_available();
  const auto drained = co_await semaphore.async_drain();
  expect(available == 3 && drained == 3, "one more");

  const holdfast::LeasedSemaphore gpus = client.leased_semaphore("coroutines:gpus");
  co_await gpus.async_init(4);
  co_await gpus.async_set_total(6);
  co_await gpus.async_add(-1);
  const auto free = co_await gpus.async_available();
  expect(free == 5, "nobody has one");

  const holdfast::Latch latch = client.latch("coroutines:latch");
  co_await latch.async_init(2);
  co_await latch.async_count_down();
  const auto left = co_await latch.async_count();
  const bool open = co_await latch.async_try_wait() || co_await latch.async_wait_for(20ms);
  expect(left == 1 && !open, "one is missing");
  co_await latch.async_count_down();
  co_await latch.async_wait();
  co_await latch.async_init(1);
  const bool closed = co_await latch.async_remove();
  expect(closed, "it was");
}

asio::awaitable<void> lead(const holdfast::Client& client) {
  holdfast::Leader leader{client.fenced_lock("coroutines:leader")};
  std::stop_source shutdown;
  const auto body = [&](const holdfast::Term&) -> asio::awaitable<void> {
    shutdown.request_stop();
    co_return;
  };
  const holdfast::CampaignOptions options{.stop = shutdown.get_token(), .rest = 10ms};
  co_await leader.async_campaign(body, options);
}

asio::awaitable<void> run(const holdfast::Client& client) {
  co_await locks(client);
  co_await counting(client);
  co_await lead(client);
  const holdfast::Hold hold = co_await client.lock("coroutines:last").async_acquire();
  const std::size_t unconfirmed = co_await client.async_release_all(1min);
  expect(unconfirmed == 0 && hold.is_lost(), "before a restart");
  co_await client.async_close();
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  try {
    asio::io_context context;
    const holdfast::Client client = holdfast::client_on(context, url ? url : "redis://127.0.0.1:6379");
    asio::co_spawn(context, run(client), [](const std::exception_ptr& problem) {
      if (problem) std::rethrow_exception(problem);
    });
    context.run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
