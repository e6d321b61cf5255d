#include "redis/connection/time_limits.hpp"

#include <utility>

#include "base/clock.hpp"

namespace holdfast::redis {

using base::Clock;
using base::TimePoint;

TimeLimits::TimeLimits(const boost::asio::any_io_executor& executor, const Lifeline& lifeline,
                       std::function<void(const std::shared_ptr<Op>&)> on_over)
    : lifeline_(lifeline), on_over_(std::move(on_over)), timer_(executor) {}

void TimeLimits::add(Op& op) {
  op.deadline = Clock::now() + op.request.timeout;
  deadlines_.insert(op);
  arm();
}

void TimeLimits::recover() {
  armed_ = false;
  arm();
}

/// The timer may fire early, for a command that was answered meanwhile, and is then set anew: cheaper than moving it
/// with every command.
void TimeLimits::arm() {
  if (deadlines_.empty()) return;
  const TimePoint next = deadlines_.begin()->deadline;
  if (armed_ && timer_.expiry() <= next) return;
  armed_ = false;  // unless the wait begins
  timer_.expires_at(next);
  timer_.async_wait([self = self()](boost::system::error_code error) {
    if (error) return;
    self->armed_ = false;
    self->on_time();
  });
  armed_ = true;
}

void TimeLimits::on_time() {
  const TimePoint now = Clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->deadline <= now) on_over_(deadlines_.begin()->shared_from_this());
  arm();
}

}  // namespace holdfast::redis
