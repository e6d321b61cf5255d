// Any one of several locks in several slots: which slots are worth asking, and in which order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/decide/ballot.hpp"

namespace holdfast::engine {

/// A waiter that gets all release messages need not ask a slot whose locks were all taken, until a release is published
/// there or a lease there is over; nor retry at once a slot that has not answered. But a message may be lost, and a
/// silent server may be back, so a slot is skipped for at most `rest`. Not thread-safe.
class Candidates {
 public:
  /// `first`: the slot to ask first in the first round.
  Candidates(std::size_t slots, Duration rest, std::size_t first)
      : quorum_(Quorum::one_of(slots)), rest_(rest), turn_(first % slots), seen_(slots) {}

  /// Starts a round: the slots to ask until one grants, each once, in this order. Slots with a published release come
  /// first, those with trouble last; otherwise they take turns at being first. `listens`: the waiter gets release
  /// messages.
  std::vector<std::size_t> round(TimePoint now, bool listens);
  void on_vote(std::size_t slot, Attempt vote, TimePoint now);
  /// The slot is skipped in this round: its server has just failed to answer for another slot.
  void on_passed_over(std::size_t slot, TimePoint now);
  void on_release(std::size_t slot);
  /// A release may have been missed in any slot.
  void on_doubt();

  /// The result of a round without a grant, including what is known about slots that were not asked. `names`: for
  /// people.
  Attempt result(const std::vector<std::string>& names, TimePoint now) const;

 private:
  struct Seen {
    std::optional<Attempt> vote{};
    TimePoint at{};
    TimePoint rests_until{};
    bool told = false;     // a release was published since it was last asked
    bool trouble = false;  // when it was last asked
  };

  const Quorum quorum_;
  const Duration rest_;
  std::size_t turn_;
  std::vector<Seen> seen_;
};

}  // namespace holdfast::engine
