// SPDX-License-Identifier: Apache-2.0
// Nothing else may be defined here: a simulation from a seed replaces this file.
#include "base/entropy.hpp"

#include <atomic>
#include <cerrno>
#include <random>
#include <sys/random.h>
#include <system_error>
#include <unistd.h>

namespace holdfast::base {

/// Does not use std::random_device, which queries the processor's features on each call: that takes 15 us in a virtual
/// machine.
std::uint32_t entropy() {
  std::uint32_t bits = 0;
  if (getentropy(&bits, sizeof bits) != 0) throw std::system_error(errno, std::generic_category(), "getentropy");
  return bits;
}

double random_share() {
  thread_local std::minstd_rand random(entropy());
  return std::generate_canonical<double, 32>(random);
}

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
