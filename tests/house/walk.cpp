// What tools/house hops counts: an acquire that waits, a release that somebody elsewhere waits for, and a renewal, each
// between two marks for callgrind. Nothing else happens meanwhile.
#include <chrono>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <valgrind/callgrind.h>

#include <holdfast/client.hpp>

#include "support/raw.hpp"
#include "support/redis_server.hpp"
#include "support/wait.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::test;
using namespace std::chrono_literals;

const std::string kName = "orders", kChannel = "redisson_lock__channel:{orders}";

/// What it does is written to a file of its own, with this name.
template <class What>
void walk(const char* name, What what) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  what();
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}

bool somebody_listens(Raw& raw) {
  const auto count = raw.command("PUBSUB", "NUMSUB", kChannel);
  return count.elements.size() == 2 && count.elements[1].integer > 0;
}

}  // namespace

int main() {
  RedisServer server;
  Raw raw(server);
  Config config = Config::from_url(server.url());
  config.lease = 3s;
  config.subscription_linger = 0ms;
  Client client(config);
  const Lock lock = client.lock(kName);
  {
    const Hold warm = lock.acquire();
  }
  raw.command("HSET", kName, "3f2b5d0e-1c2a-4b7e-9a4d-5e6f7a8b9c0d:1", "1");
  raw.command("PEXPIRE", kName, "60000");
  std::optional<Hold> hold;
  walk("acquire", [&] {
    auto waiter = std::async(std::launch::async, [&] { hold = lock.acquire(); });
    if (!eventually([&] { return somebody_listens(raw); })) std::terminate();
    raw.command("DEL", kName);
    raw.command("PUBLISH", kChannel, "0");
    waiter.get();
  });
  Raw listener(server);
  listener.command("SUBSCRIBE", kChannel);
  walk("release", [&] { hold->release(); });
  hold = lock.acquire();
  walk("renewal", [&] { std::this_thread::sleep_for(1500ms); });
  return hold->release() == ReleaseOutcome::released ? 0 : 1;
}
