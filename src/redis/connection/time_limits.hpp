// The time limits of all requests of a lane, with one alarm.
#pragma once

#include <functional>
#include <memory>

#include <boost/intrusive/set.hpp>

#include "redis/connection/lifeline.hpp"
#include "redis/connection/op.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// On the loop. A finished request unlinks itself.
class TimeLimits {
 public:
  /// `on_over` is called for each request that has timed out, and must finish it. The lifeline outlives this.
  TimeLimits(timing::Schedule& schedule, const Lifeline& lifeline,
             std::function<void(const std::shared_ptr<Op>&)> on_over);

  /// Its time starts now.
  void add(Op& op);
  void cancel() { alarm_.cancel(); }
  void forget_all() { deadlines_.clear(); }

 private:
  void set_alarm() noexcept;
  void on_time();

  const Lifeline& lifeline_;
  const std::function<void(const std::shared_ptr<Op>&)> on_over_;
  boost::intrusive::multiset<Op, boost::intrusive::constant_time_size<false>> deadlines_;
  timing::Alarm alarm_;
};

}  // namespace holdfast::redis
