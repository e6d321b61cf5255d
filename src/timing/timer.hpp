// The one timer of an event loop, on the clock that leases use.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "base/clock.hpp"

namespace holdfast::timing {

/// Waits from start() to rest(), on the executor, for a time that may be moved. All memory is allocated before start()
/// returns, so times set later cannot fail. Only Schedule has one. A program that links its own definitions of this
/// class and of base::Clock::now() runs whole clients in simulated time.
class Timer {
 public:
  /// `on_time` is called at the time that was set, or earlier, and sets the next one.
  Timer(const boost::asio::any_io_executor& executor, std::function<void()> on_time);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// `owner`: kept alive while `on_time` runs, which is not called once the owner is gone; without one, the code that
  /// destroys the timer must ensure that. Throws std::bad_alloc.
  void start(std::weak_ptr<void> owner);
  /// Sets an earlier time; a later one than the present one has no effect.
  void wait_until(base::TimePoint time) noexcept;
  /// Clears the time; from now on it only waits while a time is set, so that the loop can run out of work.
  void rest() noexcept;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::timing
