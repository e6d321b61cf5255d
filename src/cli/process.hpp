// SPDX-License-Identifier: Apache-2.0
// What a process of the tool has: the descriptors that it was started with and passes on, and its title.
#pragma once

#include <utility>
#include <vector>

namespace holdfast::cli {

/// Opens /dev/null where standard input, output or error is closed, so that nothing else gets these numbers. Using it
/// fails like using a closed one, and it is closed again for the command. For main(), before anything is opened.
void occupy_standard_fds() noexcept;

/// Make it before anything is opened. Standard input, output and error always pass through.
class InheritedFds {
 public:
  InheritedFds();

  /// Also false for a standard one that was closed at the start.
  bool contains(int fd) const;
  /// Excludes one, which only the tool uses from now on.
  void keep_back(int fd);

  /// Marks every other descriptor to be closed on exec. For the command's process, between fork and exec: another
  /// thread may have opened a socket without that mark at any time up to the fork. Async-signal-safe.
  void close_others_on_exec() const noexcept;

 private:
  void find_gaps();

  std::vector<unsigned> inherited_;                  // sorted
  std::vector<std::pair<unsigned, unsigned>> gaps_;  // ranges between them, both ends included
};

/// Closes everything but these two. Async-signal-safe.
void close_all_but(int one, int other) noexcept;

/// Remembers where the system keeps this process's arguments. For main(), before anything else.
void remember_arguments(int argc, char** argv) noexcept;

/// Sets name and command line, cut to the room that the arguments have. Async-signal-safe.
void set_title(const char* title) noexcept;

}  // namespace holdfast::cli
