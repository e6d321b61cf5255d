#include "redis/connection/time_limits.hpp"

#include <utility>

#include "base/clock.hpp"

namespace holdfast::redis {

using base::Clock;
using base::TimePoint;

TimeLimits::TimeLimits(timing::Schedule& schedule, const Lifeline& lifeline,
                       std::function<void(const std::shared_ptr<Op>&)> on_over)
    : lifeline_(lifeline), on_over_(std::move(on_over)), alarm_(schedule, [this] { on_time(); }) {}

/// The alarm may ring early, for a request that was answered meanwhile; that is cheaper than moving it for each one.
void TimeLimits::add(Op& op) {
  op.deadline = Clock::now() + op.request.timeout;
  deadlines_.insert(op);
  alarm_.set_by(deadlines_.begin()->deadline);
}

void TimeLimits::set_alarm() noexcept {
  alarm_.set(deadlines_.empty() ? TimePoint::max() : deadlines_.begin()->deadline);
}

void TimeLimits::on_time() {
  const std::shared_ptr<void> keep = lifeline_.hold();
  const TimePoint now = Clock::now();
  set_alarm();  // in case the rest throws
  while (!deadlines_.empty() && deadlines_.begin()->deadline <= now) on_over_(deadlines_.begin()->shared_from_this());
  set_alarm();
}

}  // namespace holdfast::redis
