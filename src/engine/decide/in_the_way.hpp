// The members of a group that a waiter has found taken, to decide which releases are worth another round.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/decide/ballot.hpp"

namespace holdfast::engine {

/// A failed round releases what it was granted, and such releases are published to all waiters, including this one. If
/// every message started a round, waiters would keep waking themselves and each other as long as the lock is taken. Not
/// thread-safe.
class InTheWay {
 public:
  explicit InTheWay(Quorum quorum) : quorum_(quorum), found_(quorum.members) {}

  void on_round() { found_.assign(quorum_.members, Found::nothing); }
  void on_vote(std::size_t member, const Attempt& vote);
  /// True: it was taken or had not answered, and enough members may now be free to win.
  bool on_release(std::size_t member);

 private:
  enum class Found : std::uint8_t { nothing, taken, silence };

  const Quorum quorum_;
  std::vector<Found> found_;
};

}  // namespace holdfast::engine
