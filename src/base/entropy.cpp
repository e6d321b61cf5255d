// Nothing else may be defined here: a simulation from a seed replaces this file.
#include "base/entropy.hpp"

#include <random>

namespace holdfast::base {

std::uint32_t entropy() { return std::random_device{}(); }

double random_share() {
  thread_local std::minstd_rand random(entropy());
  return std::generate_canonical<double, 32>(random);
}

}  // namespace holdfast::base
