#include "engine/loop/driver_seat.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace holdfast::engine {

using base::Clock;
using base::Duration;
using base::TimePoint;

namespace {

int make_eventfd() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::system_category(), "eventfd");
  return fd;
}

}  // namespace

int spare_processors() {
  static const int spare = static_cast<int>(std::thread::hardware_concurrency()) - 1;
  return spare;
}

DriverSeat::DriverSeat() : woken_(make_eventfd()) {}

DriverSeat::~DriverSeat() { close(woken_); }

bool DriverSeat::wait(const Sockets& sockets, TimePoint until, const sigset_t& signals) {
  pollfd looked_at[] = {{woken_, POLLIN, 0}, {sockets[0], POLLIN, 0}, {sockets[1], POLLIN, 0}};
  const nfds_t count = sockets[1] >= 0 ? 3 : 2;
  const TimePoint begun = Clock::now();
  const TimePoint spin_until = std::min(begun + spin(), until);
  int ready = 0;
  do {
    ready = poll(looked_at, count, 0);
  } while (ready == 0 && Clock::now() < spin_until);
  if (ready == 0) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now());
    if (left.count() > 0) {
      const timespec limit{static_cast<time_t>(left.count() / 1'000'000'000), left.count() % 1'000'000'000};
      ready = ppoll(looked_at, count, &limit, &signals);
    }
  }
  waited(Clock::now() - begun);
  if (ready > 0 && looked_at[0].revents != 0) {
    std::uint64_t times = 0;
    [[maybe_unused]] const ssize_t got = read(woken_, &times, sizeof times);
  }
  return ready != 0 || Clock::now() < until;
}

TimePoint DriverSeat::pause(TimePoint now) noexcept {
  if (now < yields_from_) return Clock::now();
  std::this_thread::yield();
  const TimePoint after = Clock::now();
  if (after - now > kCrowded) yields_from_ = after + kNoYields;
  return after;
}

void DriverSeat::wake() noexcept {
  const std::uint64_t once = 1;
  [[maybe_unused]] const ssize_t put = write(woken_, &once, sizeof once);
}

void DriverSeat::waited(Duration time) {
  Duration spin = spin_.load(std::memory_order_relaxed);
  if (time <= kLongestSpin && spare_processors() > 0) {
    spin = std::clamp(spin * 2, kShortestSpin, kLongestSpin);
  } else {
    spin = spin > kShortestSpin ? spin / 2 : Duration{};
  }
  spin_.store(spin, std::memory_order_relaxed);
}

}  // namespace holdfast::engine
