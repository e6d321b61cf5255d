// SPDX-License-Identifier: Apache-2.0
// One round of requesting a lock from several servers, as a pure count of votes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lock/decide/attempt.hpp"

namespace holdfast::engine {

/// How many members there are, and how many must grant.
struct Quorum {
  std::size_t members = 0;
  std::size_t needed = 0;
  static constexpr Quorum majority(std::size_t n) { return {n, n / 2 + 1}; }
  static constexpr Quorum all(std::size_t n) { return {n, n}; }
  static constexpr Quorum one_of(std::size_t n) { return {n, 1}; }
  /// True if any one free member is enough.
  constexpr bool any() const { return needed == 1 && members > 1; }
};

/// Counts the members' attempts until the round is decided, and gives the result. Not thread-safe.
/// Source: the Redlock description (majority; validity counted from before the first send).
class Ballot {
 public:
  explicit Ballot(Quorum quorum) : quorum_(quorum), votes_(quorum.members) {}

  /// Only a member's first vote counts.
  void record(std::size_t member, Attempt vote);
  bool has_voted(std::size_t member) const { return votes_[member].has_value(); }
  const std::optional<Attempt>& vote(std::size_t member) const { return votes_[member]; }

  bool won() const { return count(Attempt::Kind::granted) >= quorum_.needed; }
  /// So many have not granted that the rest cannot reach the quorum.
  bool failed() const { return voted() - count(Attempt::Kind::granted) > quorum_.members - quorum_.needed; }

  /// The result of a failed round: busy if others have it, or might have; otherwise the servers' trouble. `nodes` are
  /// the members' names for people; `pause` is for a round in which nobody had the quorum.
  Attempt result(const std::vector<std::string>& nodes, Duration pause) const;

  /// Every member's vote as text: `host:1 granted; host:2 held by somebody else for 12 s; host:3 no answer (…)`.
  std::string text(const std::vector<std::string>& nodes) const;

 private:
  std::size_t count(Attempt::Kind kind) const;
  std::size_t voted() const;
  milliseconds busy_for() const;

  Quorum quorum_;
  std::vector<std::optional<Attempt>> votes_;
};

/// Any one of several locks in several slots: which slots are worth asking, and in which order. A waiter that gets all
/// release messages need not ask a slot whose locks were all taken, until a release is published there or a lease there
/// is over; nor retry at once a slot that has not answered. But a message may be lost, and a silent server may be back,
/// so a slot is skipped for at most `rest`. Not thread-safe.
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
    bool told = false;           // a release was published since it was last asked
    bool told_in_round = false;  // and since a round with it began
    bool trouble = false;        // when it was last asked
  };

  const Quorum quorum_;
  const Duration rest_;
  std::size_t turn_;
  std::vector<Seen> seen_;
};

/// The members of a group that a waiter has found taken, to decide which releases are worth another round. A failed
/// round releases what it was granted, and such releases are published to all waiters, including this one. If every
/// message started a round, waiters would keep waking themselves and each other as long as the lock is taken. Not
/// thread-safe.
class InTheWay {
 public:
  explicit InTheWay(Quorum quorum) : quorum_(quorum), found_(quorum.members, Found::no_vote) {}

  void on_round() { found_.assign(quorum_.members, Found::no_vote); }
  /// As on_release, if a release was heard before this vote: a connection of its own for messages may be the faster.
  bool on_vote(std::size_t member, const Attempt& vote);
  /// True: it was taken or had not answered, and enough members may now be free to win.
  bool on_release(std::size_t member);

 private:
  enum class Found : std::uint8_t { no_vote, release, nothing, taken, silence };

  const Quorum quorum_;
  std::vector<Found> found_;
};

}  // namespace holdfast::engine
