// Where a caller waits for the server while it drives the loop: on the connection itself, without the loop.
#pragma once

#include <array>
#include <atomic>
#include <signal.h>

#include "base/clock.hpp"

namespace holdfast::engine {

/// For one caller at a time. It also keeps how long the latest waits took. A wait that is likely to be short is spent
/// looking, since falling asleep and being woken costs more than a round trip to a server nearby: as long as waits are
/// shorter than kLongestSpin it looks for that long (as KVM polls before it halts). It sleeps while it waits for
/// servers that are far away, and while nobody calls.
class DriverSeat {
 public:
  static constexpr base::Duration kLongestSpin = std::chrono::microseconds(120);

  /// Throws std::system_error if there is no descriptor to be had.
  DriverSeat();
  ~DriverSeat();
  DriverSeat(const DriverSeat&) = delete;
  DriverSeat& operator=(const DriverSeat&) = delete;

  /// True if it was free.
  bool take() { return !taken_.exchange(true); }
  void leave() { taken_.store(false); }
  bool taken() const { return taken_.load(); }

  /// -1: nothing to wait for.
  using Sockets = std::array<int, 2>;
  /// Waits until something has come on a socket, somebody wakes it, or the time is over: then false. While the thread
  /// sleeps `signals` are blocked.
  bool wait(const Sockets& sockets, base::TimePoint until, const sigset_t& signals);
  /// Ends the wait of whoever is in the seat, or its next one. From any thread.
  void wake() noexcept;

  /// How long to look before falling asleep.
  base::Duration spin() const { return spin_.load(std::memory_order_relaxed); }
  /// Between two looks: yields, so that callers that have been woken run before the loop's own thread looks again. Not
  /// if others have recently kept the processor for long: a thread that sleeps gets it back sooner than one that
  /// yields. Returns the time.
  base::TimePoint pause(base::TimePoint now) noexcept;
  /// Notes how long a wait for the server took.
  void waited(base::Duration time);

 private:
  static constexpr base::Duration kShortestSpin = std::chrono::microseconds(10);
  static constexpr base::Duration kCrowded = std::chrono::microseconds(500);   // a yield that takes longer
  static constexpr base::Duration kNoYields = std::chrono::milliseconds(100);  // after that

  const int woken_;  // an eventfd
  std::atomic<bool> taken_{false};
  std::atomic<base::Duration> spin_{};
  base::TimePoint yields_from_{};  // with the wheel
};

/// How many processors there are, besides the one that this thread is on, for threads that look and do not sleep,
/// without keeping the server or others from working.
int spare_processors();

}  // namespace holdfast::engine
