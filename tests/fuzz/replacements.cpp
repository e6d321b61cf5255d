// SPDX-License-Identifier: Apache-2.0
// What the library is linked with instead of its own clock, timers, chance and connections: those of the stage. The
// linker takes these definitions, and never looks at the files of the library that have the others.
#include <sys/socket.h>
#include <unistd.h>

#include "base/entropy.hpp"
#include "fuzz/stage.hpp"
#include "loop/timer.hpp"
#include "redis/connection/dialer.hpp"

namespace holdfast::base {

Clock::time_point Clock::now() noexcept {
  const fuzz::Stage* stage = fuzz::Stage::current();
  return stage == nullptr ? time_point(std::chrono::hours(1)) : stage->now();
}

std::uint32_t entropy() {
  constexpr std::uint32_t kAlwaysTheSame = 0x9E3779B1;
  return kAlwaysTheSame;
}

double random_share() { return 0.5; }

std::uint64_t next_number() noexcept {
  fuzz::Stage* stage = fuzz::Stage::current();
  return stage == nullptr ? 1 : stage->next_number();
}

std::uint64_t this_thread_number() noexcept { return 1; }

}  // namespace holdfast::base

namespace holdfast::timing {

using fuzz::Stage;

struct Timer::Shared {
  std::function<void()> on_time;
  base::TimePoint wanted = base::TimePoint::max();
};

Timer::Timer(const boost::asio::any_io_executor&, std::function<void()> on_time)
    : shared_(std::make_shared<Shared>(Shared{std::move(on_time)})) {}

Timer::~Timer() {
  if (Stage::current() != nullptr) Stage::current()->end(this);
}

void Timer::start(std::weak_ptr<void>) {}

void Timer::wait_until(base::TimePoint time) noexcept {
  if (time >= shared_->wanted || Stage::current() == nullptr) return;
  shared_->wanted = time;
  Stage::current()->end(this);
  Stage::current()->start(this, time, [weak = std::weak_ptr(shared_)] {
    const std::shared_ptr<Shared> shared = weak.lock();
    if (!shared) return;
    shared->wanted = base::TimePoint::max();
    shared->on_time();
  });
}

void Timer::rest() noexcept {
  shared_->wanted = base::TimePoint::max();
  if (Stage::current() != nullptr) Stage::current()->end(this);
}

}  // namespace holdfast::timing

namespace holdfast::redis {

void Dialer::start() {
  asking_ = true;
  source_.find([self = shared_from_this()](std::optional<ServerAddress> address, const std::string& problem) {
    self->on_address(std::move(address), problem);
  });
}

void Dialer::on_address(std::optional<ServerAddress> address, const std::string& problem) {
  asking_ = false;
  if (!done_) return;
  if (!address) return finish({}, {}, problem);
  address_ = std::move(*address);
  fuzz::Stage::current()->dial([self = shared_from_this()](int fd) {
    if (!self->done_) {
      if (fd >= 0) ::close(fd);
      return;
    }
    if (fd < 0) return self->finish({}, {}, "Connection refused");
    self->finish(Socket(self->executor_, boost::asio::generic::stream_protocol(AF_UNIX, 0), fd), {}, {});
  });
}

void Dialer::finish(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem) {
  const Done done = std::exchange(done_, {});
  done(std::move(socket), endpoint, problem);
}

void Dialer::stop() {
  done_ = {};
  if (std::exchange(asking_, false)) source_.forget();
}

void Dialer::on_alarm() {}

std::string Dialer::missing() const { return asking_ ? source_.missing() : "connection"; }

}  // namespace holdfast::redis
