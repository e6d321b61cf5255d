// What tools/house hops counts: an acquire that waits, a release that somebody elsewhere waits for, and a renewal, each
// between two marks for callgrind. Nothing else happens meanwhile.
#include <chrono>
#include <future>
#include <iostream>
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

/// What it does is written to a file of its own, with this name.
template <class What>
void walk(const char* name, What what) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  what();
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}

}  // namespace

int main() {
  Site site;
  Config config = Config::from_url(site.url());
  config.lease = 3s;
  config.subscription_linger = 0ms;
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
  return hold->release() == ReleaseOutcome::released ? 0 : 1;
}
