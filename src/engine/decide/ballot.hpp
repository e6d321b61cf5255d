// One round of requesting a lock from several servers, as a pure count of votes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/decide/attempt.hpp"

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

}  // namespace holdfast::engine
