// SPDX-License-Identifier: Apache-2.0
// The lock with the standard's guards: the thread is the owner and may lock again.
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

void refund(holdfast::Lock& account) {
  const std::scoped_lock guard{account};  // this thread has it already: counted here, nothing is sent
  std::cout << "  refund: held " << account.this_thread().hold_count() << " times by this thread\n";
}

void ship(holdfast::Lock& account) {
  const std::scoped_lock guard{account};
  std::cout << "  ship: held " << account.this_thread().hold_count() << " time\n";
  refund(account);
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  holdfast::Client client{url ? url : "redis://127.0.0.1:6379"};
  holdfast::Lock from = client.lock("example:account:1");
  holdfast::Lock to = client.lock("example:account:2");

  std::cout << "re-entry\n";
  ship(from);

  std::cout << "two locks at once, whatever order others use\n";
  {
    const std::scoped_lock both{from, to};
    std::cout << "  both are ours: " << std::boolalpha
              << (from.this_thread().is_holding() && to.this_thread().is_holding()) << '\n';

    std::thread([&] {
      std::unique_lock guard{from, 100ms};  // waits at most this long
      std::cout << "  another thread after 100 ms: " << (guard ? "has it" : "gave up") << '\n';
    }).join();
  }

  std::cout << "and when they are free\n";
  std::thread([&] {
    std::unique_lock guard{from, 100ms};
    std::cout << "  another thread: " << (guard ? "has it" : "gave up") << '\n';
  }).join();
}
