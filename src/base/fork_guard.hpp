// SPDX-License-Identifier: Apache-2.0
// What a forked child must know and must not keep: whether the process has forked since an object was made, for the
// cost of one atomic load, and which descriptors are its parent's.
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

/// As long as it lives, a child that is forked does not keep this descriptor: in the child its number stands for a
/// socket that is connected to nothing. So a file lock or a connection ends with this process, however long the child
/// lives. (A program that is started gets no descriptor of ours anyway: all are closed on exec.) Destroy it before the
/// descriptor is closed. Any thread.
class NotForChildren {
 public:
  explicit NotForChildren(int descriptor) noexcept;
  ~NotForChildren();
  NotForChildren(const NotForChildren&) = delete;
  NotForChildren& operator=(const NotForChildren&) = delete;

 private:
  friend struct ParentsDescriptors;

  const int descriptor_;
  NotForChildren* next_ = nullptr;
  NotForChildren* previous_ = nullptr;
};

}  // namespace holdfast::base
