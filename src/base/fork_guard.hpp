// Detects whether the process has forked since an object was made, for the cost of one atomic load.
#pragma once

#include <cstdint>

namespace holdfast::base {

/// How many forks lie between this process and the one that loaded the library.
std::uint32_t fork_generation() noexcept;

/// Remembers the process that made it.
class ForkGuard {
 public:
  ForkGuard() noexcept : generation_(fork_generation()) {}
  /// True in a child process of the one that made this object.
  bool in_child() const noexcept { return generation_ != fork_generation(); }

 private:
  std::uint32_t generation_;
};

}  // namespace holdfast::base
