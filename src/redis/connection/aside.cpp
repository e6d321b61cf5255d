// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/aside.hpp"

#include <string_view>
#include <thread>

#include "base/fork_guard.hpp"
#include "base/no_signals.hpp"
#include "base/text.hpp"

namespace holdfast::redis {

bool AsideCount::enter() {
  if (const std::uint32_t now = base::fork_generation(); generation_.exchange(now) != now) under_way_.store(0);
  if (under_way_.fetch_add(1) < most_) return true;
  leave();
  return false;
}

std::string thrown_by(const std::string& whose, const std::function<void()>& code) {
  constexpr std::size_t kMost = 200;
  try {
    code();
    return {};
  } catch (const std::exception& error) {
    return whose + " threw: " + base::printable(std::string_view(error.what()).substr(0, kMost));
  } catch (...) {
    return whose + " threw something that is no std::exception";
  }
}

void run_aside(std::function<void()> what) {
  const base::NoSignals inherited;  // a new thread inherits its creator's signal mask
  std::thread(std::move(what)).detach();
}

}  // namespace holdfast::redis
