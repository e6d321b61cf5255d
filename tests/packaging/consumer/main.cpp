// SPDX-License-Identifier: Apache-2.0
// Takes a lock and gives it back, on the server that HOLDFAST_URL names.
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <holdfast/holdfast.hpp>

int main() {
  const char* url = std::getenv("HOLDFAST_URL");
  if (url == nullptr) return 2;
  holdfast::Client client{url};
  holdfast::Lock lock = client.lock("consumer");
  {
    std::scoped_lock guard{lock};
    if (!lock.this_thread().is_holding() || !lock.is_locked()) return 1;
  }
  holdfast::Hold hold = lock.acquire({.wait = std::chrono::seconds(5)});
  const auto outcome = hold.release();
  std::printf("%s\n", holdfast::to_string(outcome));
  return outcome == holdfast::ReleaseOutcome::released && !lock.is_locked() ? 0 : 1;
}
