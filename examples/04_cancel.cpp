// SPDX-License-Identifier: Apache-2.0
// A wait that somebody else ends: the stop token of a std::jthread cancels it, and nothing stays behind.
#include <cstdlib>
#include <iostream>
#include <thread>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  holdfast::Client client{url ? url : "redis://127.0.0.1:6379"};
  holdfast::Lock lock = client.lock("example:cancel");
  holdfast::Hold hold = lock.acquire();

  std::jthread waiter([&](const std::stop_token& stop) {
    const holdfast::MaybeHold mine = lock.try_acquire({.wait = 1min, .stop = stop});
    std::cout << "the waiter: " << (mine ? "has the lock" : to_string(*mine.reason())) << '\n';
  });

  std::this_thread::sleep_for(100ms);
  std::cout << "the waiter is told to stop\n";
  waiter.request_stop();
  waiter.join();

  std::cout << "release says " << to_string(hold.release()) << '\n';
  std::cout << "locked now: " << std::boolalpha << lock.is_locked() << '\n';
}
