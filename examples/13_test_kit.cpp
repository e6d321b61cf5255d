// SPDX-License-Identifier: Apache-2.0
// How to test code that takes locks, without a server: three tests, each of which makes something go wrong to order.
// Any test framework will do; see docs/testing.md.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include <holdfast/async.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/testing.hpp>
#include <holdfast/testing_async.hpp>

using namespace std::chrono_literals;
using holdfast::TestKit;

namespace {

void require(bool true_thing, const std::string& what) {
  if (true_thing) return;
  std::cerr << "FAILED: " << what << '\n';
  std::exit(1);
}

// ---- the code under test: a job that stops when its lock is lost ----

enum class Ended { done, lost };

Ended import_rows(holdfast::Lock lock, int rows, const std::function<void(int)>& write) {
  holdfast::Hold hold = lock.acquire();
  for (int row = 0; row < rows; ++row) {
    if (hold.valid_for() < 50ms) return Ended::lost;  // no time for another row
    write(row);
  }
  return Ended::done;
}

// ---- its tests ----

// TestKit: a job is told to stop when somebody else has its lock.
void a_lost_lock_stops_the_job() {
  TestKit kit;
  const holdfast::Client client{kit.config()};
  int written = 0;
  const Ended ended = import_rows(client.lock("import"), 1000, [&](int row) {
    if (row == 3) kit.take_elsewhere("import");
    written = row + 1;
    std::this_thread::sleep_for(10ms);
  });
  require(ended == Ended::lost, "the job noticed the loss");
  require(written < 1000 && written > 3, "it stopped between two rows");
  require(kit.is_locked("import"), "and it did not release the lock of the other");
}

void a_server_that_stands_still_costs_the_lock() {
  boost::asio::io_context context;
  TestKit kit(TestKit::Time::still);
  const holdfast::Client client = client_on(context, kit.config());  // a lease is 30 s, renewed every 10 s
  holdfast::Hold hold;
  const holdfast::Lock lock = client.lock("shard-7");
  lock.async_acquire([&](const holdfast::Failure& failure, holdfast::Hold granted) {
    if (!failure) hold = std::move(granted);
  });
  require(pass_until(kit, context, 1s, [&] { return static_cast<bool>(hold); }), "granted");
  pass(kit, context, 5min);
  require(!hold.is_lost(), "it is renewed for five minutes, which take no time here");

  kit.freeze(2s);
  pass(kit, context, 5s);
  require(!hold.is_lost(), "two seconds are no reason to lose it");

  kit.freeze(60s);
  const bool lost = pass_until(kit, context, 60s, [&] { return hold.is_lost(); });
  require(lost, "a minute is");
  require(hold.loss_reason() == holdfast::LossReason::expired, "because the lease ran out");
}

void whoever_waits_too_long_is_told() {
  boost::asio::io_context context;
  TestKit kit(TestKit::Time::still);
  kit.take_elsewhere("nightly", 1h);
  kit.answer_late(50ms);
  const holdfast::Client client = client_on(context, kit.config());
  const holdfast::Lock lock = client.lock("nightly");
  holdfast::Failure failure;
  bool answered = false;
  lock.async_acquire({.wait = 10min}, [&](const holdfast::Failure& why, const holdfast::Hold&) {
    failure = why;
    answered = true;
  });
  pass(kit, context, 9min);
  require(!answered, "it waits as long as it may");
  pass(kit, context, 2min);
  require(answered && failure.code() == holdfast::Errc::timed_out, "and no longer");
}

}  // namespace

int main() {
  a_lost_lock_stops_the_job();
  a_server_that_stands_still_costs_the_lock();
  whoever_waits_too_long_is_told();
  std::cout << "3 tests passed\n";
}
