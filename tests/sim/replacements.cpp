// SPDX-License-Identifier: Apache-2.0
// What the library is linked with instead of its own clock, chance and numbers. The linker takes these definitions, and
// never looks at the files of the library that have the others.
#include "base/entropy.hpp"
#include "sim/process.hpp"
#include "sim/world.hpp"

namespace holdfast::base {

using test::World;
using test::sim::Process;

Clock::time_point Clock::now() noexcept {
  const Process* const process = Process::current();
  return process != nullptr ? process->clock() : World::current().now();
}

std::uint32_t entropy() {
  Process* const process = Process::current();
  return process != nullptr ? process->random() : World::current().random();
}

double random_share() { return entropy() / 4294967296.0; }

std::uint64_t next_number() noexcept { return Process::current()->next_number(); }

std::uint64_t this_thread_number() noexcept { return 1; }

}  // namespace holdfast::base
