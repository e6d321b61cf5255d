// SPDX-License-Identifier: Apache-2.0
// Which fault strikes when, and whom: all of it from a seed. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "chaos/faults.hpp"

namespace holdfast::test::chaos {

/// A sequence of numbers that is the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// From `least` to `most`, both included.
  int between(int least, int most);

 private:
  std::uint64_t state_;
};

/// A seed for this shape alone, so that shapes differ.
std::uint64_t seed_of(std::uint64_t seed, std::string_view shape);

struct Planned {
  Milliseconds at;  ///< Since the beginning of the run.
  Fault fault;
  std::uint32_t target;   ///< Of what there are several (processes, servers, slots) this one, modulo their number.
  Milliseconds duration;  ///< Zero: see FaultTraits.
  friend bool operator==(const Planned&, const Planned&) = default;
};

/// A swarm: of each track a few, at least one, as the seed has it. What is always there hides what needs its absence.
std::vector<Fault> few_of(std::span<const Fault> faults, std::uint64_t seed);

/// In the order of time, tracks mixed. Each track goes through its faults in random order, again and again, with pauses
/// in which everything works. All end within `length`, as far as their durations are known.
std::vector<Planned> schedule(std::span<const Fault> faults, std::uint64_t seed, Milliseconds length,
                              Milliseconds lease);

}  // namespace holdfast::test::chaos
