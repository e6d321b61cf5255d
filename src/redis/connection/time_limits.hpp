// The time limits of all requests of a lane, with one timer.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/intrusive/set.hpp>

#include "redis/connection/lifeline.hpp"
#include "redis/connection/op.hpp"
#include "timing/timer.hpp"

namespace holdfast::redis {

/// On the loop. A request that is finished unlinks itself.
class TimeLimits {
 public:
  /// `on_over` is called for each request that is out of time, and must finish it. The lifeline outlives this.
  TimeLimits(const boost::asio::any_io_executor& executor, const Lifeline& lifeline,
             std::function<void(const std::shared_ptr<Op>&)> on_over);

  /// Its time runs from now on.
  void add(Op& op);
  /// A handler has thrown, perhaps half way through: sets the timer anew.
  void recover();
  void cancel() { timer_.cancel(); }
  void forget_all() { deadlines_.clear(); }

 private:
  std::shared_ptr<TimeLimits> self() { return {lifeline_.hold(), this}; }
  void arm();
  void on_time();

  const Lifeline& lifeline_;
  const std::function<void(const std::shared_ptr<Op>&)> on_over_;
  boost::intrusive::multiset<Op, boost::intrusive::constant_time_size<false>> deadlines_;
  timing::Timer timer_;
  bool armed_ = false;
};

}  // namespace holdfast::redis
