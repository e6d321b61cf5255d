// SPDX-License-Identifier: Apache-2.0
#include "cli/process.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <span>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

namespace holdfast::cli {
namespace {

constexpr unsigned kFirst = 3;
constexpr unsigned kLast = std::numeric_limits<int>::max();

std::vector<unsigned> open_fds() {
  std::vector<unsigned> found;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) {
    // Without /proc, checking the usual range must be enough.
    for (unsigned fd = kFirst; fd < 1024; ++fd) {
      if (fcntl(static_cast<int>(fd), F_GETFD) >= 0) found.push_back(fd);
    }
    return found;
  }
  while (const dirent* entry = readdir(folder)) {
    unsigned fd = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const bool number = std::from_chars(entry->d_name, end, fd).ptr == end;
    if (number && fd >= kFirst && fd != static_cast<unsigned>(dirfd(folder))) found.push_back(fd);
  }
  closedir(folder);
  std::sort(found.begin(), found.end());
  return found;
}

/// Closes a range, both ends included, or marks it to be closed on exec. Async-signal-safe.
void close_range_of(unsigned first, unsigned last, unsigned flags) noexcept {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, last, flags) == 0) return;
#endif
  // A kernel before 5.11: one by one, up to the process's limit.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto end = static_cast<unsigned>(std::min<rlim_t>(limit.rlim_cur, 65536));
  for (unsigned fd = first; fd <= last && fd < end; ++fd) {
    if (flags == CLOSE_RANGE_CLOEXEC) {
      fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);
    } else {
      close(static_cast<int>(fd));
    }
  }
}

std::span<char> arguments;  // one after another, each ended by a zero

}  // namespace

void occupy_standard_fds() noexcept {
  for (int fd = 0; fd < static_cast<int>(kFirst); ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // Gets the lowest free number, which is this one.
    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

InheritedFds::InheritedFds() : inherited_(open_fds()) { find_gaps(); }

bool InheritedFds::contains(int fd) const {
  if (fd >= static_cast<int>(kFirst)) {
    return std::binary_search(inherited_.begin(), inherited_.end(), static_cast<unsigned>(fd));
  }
  // Descriptors inherited through an exec lack the mark; those that occupy_standard_fds() opened have it.
  const int flags = fcntl(fd, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

void InheritedFds::keep_back(int fd) {
  std::erase(inherited_, static_cast<unsigned>(fd));
  find_gaps();
}

void InheritedFds::find_gaps() {
  gaps_.clear();
  unsigned next = kFirst;
  for (const unsigned fd : inherited_) {
    if (fd > next) gaps_.emplace_back(next, fd - 1);
    next = fd + 1;
  }
  gaps_.emplace_back(next, kLast);
}

void InheritedFds::close_others_on_exec() const noexcept {
  for (const auto& [first, last] : gaps_) close_range_of(first, last, CLOSE_RANGE_CLOEXEC);
}

void close_all_but(int one, int other) noexcept {
  const auto low = static_cast<unsigned>(std::min(one, other));
  const auto high = static_cast<unsigned>(std::max(one, other));
  if (low > 0) close_range_of(0, low - 1, 0);
  if (high > low + 1) close_range_of(low + 1, high - 1, 0);
  close_range_of(high + 1, kLast, 0);
}

void remember_arguments(int argc, char** argv) noexcept {
  if (argc < 1) return;
  const char* end = argv[0];
  for (int i = 0; i < argc && argv[i] == end; ++i) end += std::strlen(argv[i]) + 1;
  arguments = {argv[0], static_cast<std::size_t>(end - argv[0])};
}

void set_title(const char* title) noexcept {
  prctl(PR_SET_NAME, title);
  if (arguments.empty()) return;
  std::ranges::fill(arguments, '\0');
  std::copy_n(title, std::min(std::strlen(title), arguments.size() - 1), arguments.begin());
}

}  // namespace holdfast::cli
