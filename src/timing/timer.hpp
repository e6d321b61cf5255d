// A timer on an event loop, by the clock of all leases.
#pragma once

#include <functional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/system/error_code.hpp>

#include "base/clock.hpp"

namespace holdfast::timing {

/// As Asio's timers: a handler is called once, on the executor, with an error if the wait was cut short by cancel(), by
/// a new time or by destruction. All timers of a client are of this class, so a program that links its own definitions
/// of it and of base::Clock::now() runs whole clients in simulated time.
class Timer {
 public:
  using Handler = std::function<void(boost::system::error_code)>;

  explicit Timer(const boost::asio::any_io_executor& executor);
  Timer(const boost::asio::any_io_executor& executor, base::TimePoint time);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void expires_at(base::TimePoint time);
  void expires_after(base::Duration time);
  base::TimePoint expiry() const;
  /// Throws std::bad_alloc; then nothing waits.
  void async_wait(Handler handler);
  void cancel();

 private:
  boost::asio::basic_waitable_timer<base::Clock> timer_;
};

}  // namespace holdfast::timing
