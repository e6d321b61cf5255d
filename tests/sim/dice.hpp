// SPDX-License-Identifier: Apache-2.0
// What a seed draws from.
#pragma once

#include <random>
#include <vector>

#include "sim/plan.hpp"

namespace holdfast::test::sim {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : chance_(seed) {}
  int from(int least, int most) {
    return least + static_cast<int>(chance_() % static_cast<std::uint64_t>(most - least + 1));
  }
  milliseconds time(int least, int most) { return milliseconds(from(least, most)); }
  /// With so many in a hundred.
  bool share(int percent) { return from(1, 100) <= percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(from(0, static_cast<int>(all.size()) - 1))];
  }

 private:
  std::mt19937_64 chance_;
};

}  // namespace holdfast::test::sim
