// SPDX-License-Identifier: Apache-2.0
// What tools/house walks: an acquire that waits, a release that somebody elsewhere waits for, a renewal, and a loss.
// Nothing else happens meanwhile. Each lies between two marks for callgrind; and to the file that is the argument, if
// there is one, goes its name, with the address of each function of ours that was entered on the way
// (-finstrument-functions).
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <valgrind/callgrind.h>

#include <holdfast/client.hpp>

#include "support/held_lock.hpp"
#include "support/raw.hpp"
#include "support/site.hpp"
#include "support/wait.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::test;
using namespace std::chrono_literals;

const std::string kName = "orders";

std::array<const void*, 1U << 20U> entered;
std::atomic<std::size_t> count{0};
std::atomic<bool> recording{false};
std::ofstream trace;

/// What it does is written to a file of its own by callgrind, with this name, and to the trace.
template <class What>
void walk(const char* name, What what) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  count = 0;
  recording = trace.is_open();
  what();
  recording = false;
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
  if (count > entered.size()) std::terminate();
  trace << name << '\n';
  for (std::size_t i = 0; i < count; ++i) trace << entered[i] << '\n';
}

}  // namespace

extern "C" {
[[gnu::no_instrument_function]] void __cyg_profile_func_enter(void* function, void*) {
  if (!recording) return;
  if (const std::size_t at = count++; at < entered.size()) entered[at] = function;
}
[[gnu::no_instrument_function]] void __cyg_profile_func_exit(void*, void*) {}
}

int main(int argc, char** argv) {
  if (argc > 1) trace.open(argv[1]);
  Site site;
  Config config = Config::from_url(site.url());
  config.lease = 3s;
  config.timing.subscription_linger = 0ms;
  Client client(config);
  const Lock lock = client.lock(kName);
  {
    const Hold warm = lock.acquire();
  }
  put_held_lock(site.raw(kName), kName);
  std::optional<Hold> hold;
  walk("acquire", [&] {
    auto waiter = std::async(std::launch::async, [&] { hold = lock.acquire(); });
    if (!eventually([&] { return site.listeners(kName) > 0; })) std::terminate();
    site.raw(kName).command("DEL", kName);
    site.wake(kName);
    waiter.get();
  });
  Raw listener(site.server(kName));
  listener.command("SUBSCRIBE", "redisson_lock__channel:{" + kName + "}");
  walk("release", [&] { hold->release(); });
  hold = lock.acquire();
  walk("renewal", [&] { std::this_thread::sleep_for(1500ms); });
  walk("loss", [&] {
    std::promise<void> lost;
    const std::stop_callback on_lost(hold->lost_token(), [&] { lost.set_value(); });
    site.raw(kName).command("DEL", kName);
    lost.get_future().wait();
  });
}
