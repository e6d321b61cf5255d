// Pauses between attempts to connect: doubling up to a limit, with jitter. Pure; the random number is an input.
#pragma once

#include <algorithm>
#include <chrono>

namespace holdfast::redis {

class Backoff {
 public:
  Backoff(std::chrono::milliseconds first, std::chrono::milliseconds limit)
      : first_(first), limit_(limit), next_(first) {}

  /// The next pause: between half of the current step and all of it. `random` is in [0, 1).
  std::chrono::nanoseconds next(double random) {
    const std::chrono::duration<double, std::milli> step = next_;
    next_ = std::min(limit_, next_ * 2);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(step * (0.5 + random / 2));
  }

  /// After a success: starts with the first pause again.
  void reset() { next_ = first_; }

 private:
  std::chrono::milliseconds first_, limit_, next_;
};

}  // namespace holdfast::redis
