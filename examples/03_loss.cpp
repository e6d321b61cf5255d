// SPDX-License-Identifier: Apache-2.0
// What a holder does about loss: it asks before each step that matters, and may be told as well.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  holdfast::Client client{url ? url : "redis://127.0.0.1:6379"};
  holdfast::Lock report = client.lock("example:report");

  // A short lease makes the example short: it is renewed every 200 ms, and a renewal is what finds the lock gone.
  std::atomic<bool> told{false};
  holdfast::Hold hold = report.acquire({
      .lease = holdfast::renewed(600ms),
      .on_lost =
          [&told](const holdfast::LostEvent& event) {
            std::cout << "told that " << event.name << " was lost: " << to_string(event.reason) << '\n';
            told = true;
          },
  });

  std::jthread somebody([&] {
    std::this_thread::sleep_for(100ms);
    std::cout << "somebody breaks the lock\n";
    report.force_release();
  });

  const auto needed = 50ms;  // the longest that one step takes
  int steps = 0;
  // `is_lost()` ends long work; `valid_for()` says whether there is time for one more step, machine pauses included.
  while (!hold.is_lost() && hold.valid_for() > needed) {
    std::this_thread::sleep_for(10ms);
    ++steps;
  }
  std::cout << (steps > 0 ? "stopped working" : "never began") << ", the hold is " << to_string(hold.state())
            << ", valid for " << hold.valid_for().count() << " ms\n";

  while (!told) std::this_thread::sleep_for(1ms);
  std::cout << "release says " << to_string(hold.release()) << '\n';
}
