// Looks at a connection now and then: is it alive?
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "redis/connection/health.hpp"
#include "redis/connection/lifeline.hpp"
#include "redis/connection/op.hpp"
#include "timing/timer.hpp"

namespace holdfast::redis {

/// On the loop.
class HealthWatch {
 public:
  struct Ways {
    std::function<bool()> heard;  ///< Anything, since this was called last.
    std::function<void()> ping;
    std::function<void(std::string cause)> dead;
  };
  /// The lifeline outlives it.
  HealthWatch(const boost::asio::any_io_executor& executor, base::Duration interval, const Lifeline& lifeline,
              Ways ways)
      : interval_(interval), lifeline_(lifeline), ways_(std::move(ways)), timer_(executor) {}

  /// From now until stop(), or until it was found dead.
  void start() {
    timer_.expires_after(interval_);
    timer_.async_wait([this, keep = lifeline_.hold(), wait = ++wait_](boost::system::error_code error) {
      if (!error && wait == wait_) look();
    });
  }
  /// A wait that is over already, and whose handler has not run yet, cannot be cancelled: nothing comes of it either.
  void stop() {
    ++wait_;
    timer_.cancel();
  }

 private:
  void look() {
    const Health::Verdict verdict = health_.judge(ways_.heard());
    if (verdict == Health::Verdict::dead) {
      return ways_.dead("the server has not answered for " + milliseconds(interval_ * 2) + " ms");
    }
    if (verdict == Health::Verdict::ping) ways_.ping();
    start();
  }

  const base::Duration interval_;
  const Lifeline& lifeline_;
  const Ways ways_;
  timing::Timer timer_;
  std::uint64_t wait_ = 0;  // the latest
  Health health_;
};

}  // namespace holdfast::redis
