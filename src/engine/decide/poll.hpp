// How long a waiter sleeps between two attempts if it may not be notified of releases, as pure decisions.
#pragma once

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

struct PollTerms {
  Duration first{};    ///< The first sleep; each one is `multiplier` times the one before, ...
  Duration longest{};  ///< ... up to this.
  int multiplier = 2;
  /// The jitter, so that waiters do not ask in step. `half`: half of each sleep is random. `added`: the k-th gets up to
  /// k - 1 ms more, which also multiply: Redisson's ExponentialBackOff.
  enum class Spread { half, added } spread = Spread::half;
};

/// Half of it fixed, the other half random.
inline Duration half_by_chance(Duration longest, double chance) {
  const auto half = longest / 2;
  return half + std::chrono::duration_cast<Duration>(half * chance);
}

/// One wait's: its terms and its chance, in [0, 1), are the same each time.
class Poll {
 public:
  Duration next(const PollTerms& terms, double chance) {
    const Duration now = next_ == Duration{} ? std::min(terms.first, terms.longest) : next_;
    Duration added{};
    if (terms.spread == PollTerms::Spread::added) {
      added = std::chrono::duration_cast<Duration>(std::chrono::milliseconds(grown_) * chance);
      ++grown_;
    }
    // `longest` may be up to ten years, and multiplying it would overflow.
    next_ = now >= terms.longest / terms.multiplier ? terms.longest
                                                    : std::min(now * terms.multiplier + added, terms.longest);
    return terms.spread == PollTerms::Spread::half ? half_by_chance(now, chance) : now;
  }

 private:
  Duration next_{};  // zero: there was none yet
  int grown_ = 0;    // ms that chance may add to the next one
};

}  // namespace holdfast::engine
