// SPDX-License-Identifier: Apache-2.0
// What the tests of LeasedSemaphore share.
#pragma once

#include "faults.hpp"

namespace holdfast::test {

class Leased : public Faults {
 protected:
  Leased() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  const std::string name = "gpus", leases = "{gpus}:timeout", channel = "redisson_sc:{gpus}";

  LeasedSemaphore semaphore(const Client& client) const { return client.leased_semaphore(name); }
  /// Gives it back at once.
  static bool can_take(const LeasedSemaphore& semaphore, std::optional<milliseconds> wait = {}) {
    const MaybeHold hold = semaphore.try_acquire({.wait = wait});
    return bool(hold);
  }
  static std::future<Hold> start(const LeasedSemaphore& semaphore, const AcquireOptions& options = {.wait = 30s}) {
    return in_thread([semaphore, options] { return semaphore.acquire(options); });
  }
  std::string free() { return raw.command("GET", name).text; }
  long long held() { return raw.command("ZCARD", leases).integer; }
  bool listened() {
    return eventually([&] { return raw.command("PUBSUB", "NUMSUB", channel).elements[1].integer > 0; });
  }
  /// Quiet: all that there are can be taken.
  bool all_back(const std::string& permits) {
    return eventually([&] { return free() == permits && held() == 0; });
  }
};

}  // namespace holdfast::test
