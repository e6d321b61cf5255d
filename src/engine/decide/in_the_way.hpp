// Which members of a group a waiter has found taken, so that it knows which releases are worth another round.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/decide/ballot.hpp"

namespace holdfast::engine {

/// A round that fails gives back what it was granted, and that is told like any release, to the waiter itself as well.
/// If every message began a round, waiters would keep themselves and each other awake for as long as the lock is taken.
/// Not thread-safe.
class InTheWay {
 public:
  explicit InTheWay(Quorum quorum) : quorum_(quorum), found_(quorum.members) {}

  void on_round() { found_.assign(quorum_.members, Found::nothing); }
  void on_vote(std::size_t member, const Attempt& vote);
  /// True: it was in the way, or has not answered, and those that are taken leave enough to win.
  bool on_release(std::size_t member);

 private:
  enum class Found : std::uint8_t { nothing, taken, silence };

  const Quorum quorum_;
  std::vector<Found> found_;
};

}  // namespace holdfast::engine
