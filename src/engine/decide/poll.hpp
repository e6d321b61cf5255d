// How long a waiter sleeps between two attempts if it may not be told of a release, as pure decisions.
#pragma once

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

struct PollTerms {
  Duration first{};    ///< The first sleep; each one is `multiplier` times the one before, ...
  Duration longest{};  ///< ... up to this.
  int multiplier = 2;
  /// What chance adds, so that waiters do not ask in step. `half`: of each sleep half is certain. `added`: to the k-th
  /// up to k - 1 ms more, which grow with it: Redisson's ExponentialBackOff.
  enum class Spread { half, added } spread = Spread::half;
};

/// Half of it for certain, the other half by chance.
inline Duration half_by_chance(Duration longest, double chance) {
  const auto half = longest / 2;
  return half + std::chrono::duration_cast<Duration>(half * chance);
}

/// One wait's. `chance`: in [0, 1).
class Poll {
 public:
  Poll(PollTerms terms, double chance) : terms_(terms), chance_(chance), next_(std::min(terms.first, terms.longest)) {}

  Duration next() {
    const Duration now = next_;
    Duration added{};
    if (terms_.spread == PollTerms::Spread::added) {
      added = std::chrono::duration_cast<Duration>(std::chrono::milliseconds(grown_) * chance_);
      ++grown_;
    }
    // The longest is a setting of up to ten years, and a multiplier of it would overflow.
    next_ = now >= terms_.longest / terms_.multiplier ? terms_.longest
                                                      : std::min(now * terms_.multiplier + added, terms_.longest);
    return terms_.spread == PollTerms::Spread::half ? half_by_chance(now, chance_) : now;
  }

 private:
  const PollTerms terms_;
  const double chance_;
  Duration next_;
  int grown_ = 0;  // ms that chance may add to the next one
};

}  // namespace holdfast::engine
