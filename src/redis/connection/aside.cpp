#include "redis/connection/aside.hpp"

#include <thread>

#include "base/fork_guard.hpp"
#include "base/no_signals.hpp"

namespace holdfast::redis {

bool AsideCount::enter() {
  if (const std::uint32_t now = base::fork_generation(); generation_.exchange(now) != now) under_way_.store(0);
  if (under_way_.fetch_add(1) < most_) return true;
  leave();
  return false;
}

void run_aside(std::function<void()> what) {
  const base::NoSignals inherited;  // a new thread inherits its creator's signal mask
  std::thread(std::move(what)).detach();
}

}  // namespace holdfast::redis
