// Where a caller waits for the server while it drives the loop: on the connection itself, without the loop.
#pragma once

#include <array>
#include <atomic>
#include <signal.h>

#include "base/clock.hpp"

namespace holdfast::engine {

/// For one caller at a time; and what is known of how long such waits are. A wait that is likely to be short is spent
/// looking, since to fall asleep and be woken costs more than a round trip to a server nearby: as long as waits are
/// shorter than kLongestSpin it looks that long (the way in which KVM polls before it halts). Far servers and idle
/// clients are waited for asleep.
class DriverSeat {
 public:
  static constexpr base::Duration kLongestSpin = std::chrono::microseconds(120);

  /// Throws std::system_error if there is no descriptor to be had.
  DriverSeat();
  ~DriverSeat();
  DriverSeat(const DriverSeat&) = delete;
  DriverSeat& operator=(const DriverSeat&) = delete;

  /// True for one at a time.
  bool take() { return !taken_.exchange(true); }
  void leave() { taken_.store(false); }
  bool taken() const { return taken_.load(); }

  /// Those with nothing to wait for are -1.
  using Sockets = std::array<int, 2>;
  /// Waits until something has come on a socket, somebody wakes it, or the time is over: then false. Asleep the
  /// thread holds these signals back.
  bool wait(const Sockets& sockets, base::TimePoint until, const sigset_t& signals);
  /// Ends the wait of whoever is in the seat, or its next one. From any thread.
  void wake() noexcept;

  /// How long to look before falling asleep.
  base::Duration spin() const { return spin_.load(std::memory_order_relaxed); }
  /// Between two looks: lets callers that have been woken run before the loop's own thread looks again; unless others
  /// have recently kept the processor for long, which a thread that sleeps gets back sooner than one that yields.
  /// Returns what time it is.
  base::TimePoint pause(base::TimePoint now) noexcept;
  /// A wait for the server has taken so long.
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

/// Besides the one that a thread is on: processors on which one may look around without keeping the server or others
/// from working.
int spare_processors();

}  // namespace holdfast::engine
