// SPDX-License-Identifier: Apache-2.0
// A service with a hot standby: hot_standby URL is an instance of it.
// hot_standby --try [URL] starts three, kills the first, tells the second one to end, and says how soon the next is
// active.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <signal.h>
#include <string>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "hot_standby/service.hpp"
#include "support/process.hpp"

namespace hot_standby {
namespace {

using namespace std::chrono_literals;

constexpr auto kSlack = 1000ms;  // that a busy machine may add

struct Trial {
  bool all_held = true;

  void claim(const std::string& text, bool held, std::chrono::steady_clock::duration took) {
    std::cout << (held ? "held    " : "FAILED  ") << text << ": after "
              << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms" << std::endl;
    all_held = all_held && held;
  }
};

bool try_out(const std::string& url) {
  support::end_waits_on_interrupt();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  Trial trial;
  const holdfast::Client client(url);
  const holdfast::FencedLock lock = client.fenced_lock("example:service");
  const auto standby = [&] {
    support::Process instance = support::start_worker({url});
    while (lock.info().listeners.value_or(1) == 0) std::this_thread::sleep_for(5ms);  // until it waits
    return instance;
  };

  support::Process first = support::start_worker({url});
  std::cout << "the first:  " << first.read_line() << std::endl;
  support::Process second = standby();
  auto struck = now();
  first.send(SIGKILL);
  std::cout << "the second: " << second.read_line() << std::endl;
  auto took = now() - struck;
  trial.claim("a killed instance is followed when its lease of 2000 ms is over", took <= kLease + kSlack, took);

  support::Process third = standby();
  struck = now();
  second.send(SIGTERM);
  std::cout << "the third:  " << third.read_line() << std::endl;
  took = now() - struck;
  trial.claim("one that is told to end is followed at once", took <= kSlack, took);
  third.send(SIGTERM);
  const bool well = second.wait() && third.wait();
  trial.claim("both have ended with status 0, and the lock is free", well && !lock.is_locked(), now() - struck);
  return trial.all_held;
}

}  // namespace
}  // namespace hot_standby

int main(int argc, char** argv) {
  try {
    if (argc > 1 && argc <= 3 && std::string(argv[1]) == "--try") {
      const char* url = argc > 2 ? argv[2] : std::getenv("HOLDFAST_URL");
      return hot_standby::try_out(url ? url : "redis://127.0.0.1:6379") ? 0 : 1;
    }
    if (argc == 2) {
      hot_standby::serve(argv[1]);
      return 0;
    }
    std::fprintf(stderr, "usage: hot_standby URL\n       hot_standby --try [URL]\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hot_standby: %s\n", error.what());
  }
  return 2;
}
