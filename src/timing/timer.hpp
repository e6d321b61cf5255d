// The one timer of an event loop, by the clock of all leases.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "base/clock.hpp"

namespace holdfast::timing {

/// Waits from start() to rest(), on the executor, for a time that may be moved. Memory is taken before start() returns
/// and never again, so what is set later comes. Only Schedule has one. A program that links its own definitions of this
/// class and of base::Clock::now() runs whole clients in simulated time.
class Timer {
 public:
  /// `on_time` is called at the time that was set, or earlier, and sets the next one.
  Timer(const boost::asio::any_io_executor& executor, std::function<void()> on_time);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// `owner`: kept alive while `on_time` runs, which is not called once it is gone; without one, whoever destroys the
  /// timer sees to that. Throws std::bad_alloc.
  void start(std::weak_ptr<void> owner);
  /// Not later than this; a later time than the one that is set changes nothing.
  void wait_until(base::TimePoint time) noexcept;
  /// No time is set, and from now on it waits only for one that is, so that the loop runs out of work.
  void rest() noexcept;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::timing
