// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include "system/system.hpp"

namespace holdfast::system {
namespace {

bool not_inherited(int fd) noexcept { return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }

/// Where those sleep whose words fall into the same place.
struct Place {
  std::mutex mutex;
  std::condition_variable woken;
};

class Places {
 public:
  Place& of(const void* word) { return places_[std::hash<const void*>()(word) / kApart % places_.size()]; }

 private:
  static constexpr std::size_t kApart = 64;
  std::array<Place, 64> places_;
};

/// Never destroyed, and made anew in a child process, where nobody sleeps and a mutex may be locked for ever.
Places& places() {
  alignas(Places) static std::array<std::byte, sizeof(Places)> memory;
  static Places* const made = [] {
    Places* const first = new (memory.data()) Places;
    pthread_atfork(nullptr, nullptr, [] { new (memory.data()) Places; });
    return first;
  }();
  return *made;
}

}  // namespace

Bell::Bell() : heard_(-1), rung_(-1) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::system_category(), "pipe");
  heard_ = ends[0];
  rung_ = ends[1];
  for (const int end : ends) {
    not_inherited(end);
    fcntl(end, F_SETFL, O_NONBLOCK);
  }
}

Bell::~Bell() {
  close(heard_);
  close(rung_);
}

void Bell::ring() const noexcept {
  const char once = 0;
  [[maybe_unused]] const ssize_t put = write(rung_, &once, sizeof once);  // full: it is readable anyway
}

void Bell::hush() const noexcept {
  std::array<char, 64> times{};
  while (read(heard_, times.data(), times.size()) > 0) {
  }
}

void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::nanoseconds limit) noexcept {
  Place& place = places().of(&word);
  std::unique_lock lock(place.mutex);
  if (word.load() == value) place.woken.wait_for(lock, limit);
}

void wake_one(const void* word) noexcept {
  Place& place = places().of(word);
  const std::lock_guard lock(place.mutex);
  place.woken.notify_all();
}

int poll(std::span<pollfd> looked_at, std::chrono::nanoseconds limit, const sigset_t& signals) noexcept {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &signals, &before);
  const auto time = std::chrono::ceil<std::chrono::milliseconds>(limit);
  const int ready = ::poll(looked_at.data(), static_cast<nfds_t>(looked_at.size()), static_cast<int>(time.count()));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return ready;
}

/// There is none: the client's own thread waits for them, not the callers'.
SocketSet::SocketSet() : set_(-1) {}
SocketSet::~SocketSet() = default;
void SocketSet::add(const std::array<int, 2>&) {}

int new_socket(int family, int type) noexcept {
  const int fd = socket(family, type, 0);
  if (fd < 0 || not_inherited(fd)) return fd;
  close(fd);
  return -1;
}

void put_at(int from, int to) noexcept {
  if (dup2(from, to) >= 0) not_inherited(to);
}

/// POSIX does not say that it waits until all is written.
int sync_file_system(int) noexcept {
  sync();
  return 0;
}

#ifdef __linux__
const char* program_name() noexcept { return program_invocation_short_name; }
#else
const char* program_name() noexcept { return getprogname(); }
#endif

}  // namespace holdfast::system
