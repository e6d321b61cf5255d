// SPDX-License-Identifier: Apache-2.0
// Nothing else may be defined here: a simulation from a seed replaces this file.
#include <atomic>

#include "base/ids.hpp"

namespace holdfast::base {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t this_thread_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

}  // namespace holdfast::base
