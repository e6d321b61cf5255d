// Any one of several locks that lie in several slots: which slots are worth asking, and in which order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/decide/ballot.hpp"

namespace holdfast::engine {

/// A waiter that hears of all releases need not ask where it has found all taken, until a release is told there or a
/// lease there is over; nor, at once, where nobody has answered. But a message may be lost, and who has not answered
/// may be back: a slot rests for so long and no longer. Not thread-safe.
class Candidates {
 public:
  /// `first`: which one is asked first in the first round.
  Candidates(std::size_t slots, Duration rest, std::size_t first)
      : quorum_(Quorum::one_of(slots)), rest_(rest), turn_(first % slots), seen_(slots) {}

  /// A round begins: those to ask until one grants, each once, in this order. Where a release was told comes first,
  /// where there was trouble last; otherwise they take turns at being first. `listens`: its waiter hears of releases.
  std::vector<std::size_t> round(TimePoint now, bool listens);
  void on_vote(std::size_t slot, Attempt vote, TimePoint now);
  /// It is not asked in this round: its server has just not answered for another slot.
  void on_passed_over(std::size_t slot, TimePoint now);
  void on_release(std::size_t slot);
  /// A release may have been missed, anywhere.
  void on_doubt();

  /// What a round without a grant amounts to, with what is known of those that were not asked. `names`: for people.
  Attempt result(const std::vector<std::string>& names, TimePoint now) const;

 private:
  struct Seen {
    std::optional<Attempt> vote{};
    TimePoint at{};
    TimePoint rests_until{};
    bool told = false;     // a release, since it was asked last
    bool trouble = false;  // when it was asked last
  };

  const Quorum quorum_;
  const Duration rest_;
  std::size_t turn_;
  std::vector<Seen> seen_;
};

}  // namespace holdfast::engine
