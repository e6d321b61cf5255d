// SPDX-License-Identifier: Apache-2.0
#include "cli/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace holdfast::cli {
namespace {

Fd checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return Fd(fd);
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

EventFd::EventFd() : fd_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

void EventFd::set() const noexcept {
  const std::uint64_t one = 1;
  // It can only fail if the counter is full, and then it is readable anyway.
  [[maybe_unused]] const ssize_t written = write(fd_.get(), &one, sizeof one);
}

bool EventFd::take() const noexcept {
  std::uint64_t count = 0;
  return read(fd_.get(), &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

Timer::Timer() : fd_(checked(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")) {}

void Timer::arm(std::optional<base::TimePoint> time) const {
  itimerspec spec{};
  if (time) {
    // Zero would disarm the timer instead of firing at once.
    const auto since = std::max(time->time_since_epoch(), base::Duration(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    spec.it_value.tv_sec = seconds.count();
    spec.it_value.tv_nsec = (since - seconds).count();
  }
  timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

void wait_readable(std::span<const int> fds) {
  std::vector<pollfd> polled;
  for (const int fd : fds) polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  while (poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
  }
}

}  // namespace holdfast::cli
