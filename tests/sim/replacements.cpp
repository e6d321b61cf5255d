// What the library is linked with instead of its own clock, timers, chance and connections. The linker takes these
// definitions, and never looks at the files of the library that have the others.
#include <limits>
#include <map>
#include <sys/socket.h>

#include <boost/asio/post.hpp>

#include "base/entropy.hpp"
#include "redis/connection/dialer.hpp"
#include "sim/network.hpp"
#include "sim/world.hpp"
#include "timing/timer.hpp"

namespace holdfast::base {

Clock::time_point Clock::now() noexcept { return test::World::current().now(); }

std::uint32_t entropy() { return test::World::current().random(); }

double random_share() { return static_cast<double>(entropy()) / (std::numeric_limits<std::uint32_t>::max() + 1.0); }

}  // namespace holdfast::base

namespace holdfast::timing {
namespace {

using test::World;

struct Wait {
  World::Id event;
  Timer::Handler handler;
};

/// By their timers, each of which has one wait at most.
std::map<const Timer*, Wait>& waits() {
  static std::map<const Timer*, Wait> all;
  return all;
}

void end_wait(const Timer* timer, const boost::asio::any_io_executor& executor, boost::system::error_code error) {
  const auto found = waits().find(timer);
  if (found == waits().end()) return;
  Wait wait = std::move(found->second);
  waits().erase(found);
  World::current().cancel(wait.event);
  if (World::current().ending()) return;
  boost::asio::post(executor, [handler = std::move(wait.handler), error] { handler(error); });
}

}  // namespace

Timer::Timer(const boost::asio::any_io_executor& executor) : timer_(executor) {}
Timer::Timer(const boost::asio::any_io_executor& executor, base::TimePoint time) : timer_(executor, time) {}
Timer::~Timer() { cancel(); }

void Timer::expires_at(base::TimePoint time) {
  cancel();
  timer_.expires_at(time);
}
void Timer::expires_after(base::Duration time) { expires_at(base::Clock::now() + time); }
base::TimePoint Timer::expiry() const { return timer_.expiry(); }
void Timer::async_wait(Handler handler) {
  cancel();
  const World::Id event =
      World::current().at(expiry(), [this] { end_wait(this, timer_.get_executor(), boost::system::error_code()); });
  waits().emplace(this, Wait{event, std::move(handler)});
}
void Timer::cancel() { end_wait(this, timer_.get_executor(), boost::asio::error::operation_aborted); }

}  // namespace holdfast::timing

namespace holdfast::redis {

void Dialer::start() {
  test::Network::current().dial([self = shared_from_this()](int fd) {
    if (!self->done_) {
      if (fd >= 0) ::close(fd);
      return;
    }
    const Done done = std::exchange(self->done_, {});
    if (fd < 0) return done({}, {}, "Connection refused");
    done(Socket(self->executor_, boost::asio::generic::stream_protocol(AF_UNIX, 0), fd), {}, {});
  });
}

void Dialer::stop() { done_ = {}; }

std::string Dialer::missing() const { return "connection"; }

}  // namespace holdfast::redis
