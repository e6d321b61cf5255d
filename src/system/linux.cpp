// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "system/system.hpp"

namespace holdfast::system {
namespace {

constexpr long long kSecond = 1'000'000'000;

}  // namespace

Bell::Bell() : heard_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), rung_(heard_) {
  if (heard_ < 0) throw std::system_error(errno, std::system_category(), "eventfd");
}

Bell::~Bell() { close(heard_); }

void Bell::ring() const noexcept {
  const std::uint64_t once = 1;
  [[maybe_unused]] const ssize_t put = write(rung_, &once, sizeof once);  // full: it is readable anyway
}

void Bell::hush() const noexcept {
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = read(heard_, &times, sizeof times);
}

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "a futex");

void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::nanoseconds limit) noexcept {
  const struct {
    long seconds, nanoseconds;
  } time{static_cast<long>(limit.count() / kSecond), static_cast<long>(limit.count() % kSecond)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &time, nullptr, 0);
}

void wake_one(const void* word) noexcept { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

int poll(std::span<pollfd> looked_at, std::chrono::nanoseconds limit, const sigset_t& signals) noexcept {
  const timespec time{static_cast<time_t>(limit.count() / kSecond), static_cast<long>(limit.count() % kSecond)};
  return ppoll(looked_at.data(), looked_at.size(), &time, &signals);
}

SocketSet::SocketSet() : set_(epoll_create1(EPOLL_CLOEXEC)) {}

SocketSet::~SocketSet() {
  if (set_ >= 0) close(set_);
}

void SocketSet::add(const std::array<int, 2>& sockets) {
  for (const int socket : sockets) {
    if (set_ < 0 || socket < 0) continue;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = socket;
    epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event);
  }
}

int new_socket(int family, int type) noexcept { return socket(family, type | SOCK_CLOEXEC, 0); }

void put_at(int from, int to) noexcept { dup3(from, to, O_CLOEXEC); }

int sync_file_system(int fd) noexcept { return syncfs(fd); }

const char* program_name() noexcept { return program_invocation_short_name; }

}  // namespace holdfast::system
