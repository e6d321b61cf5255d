// SPDX-License-Identifier: Apache-2.0
// Which node to ask for a cluster's map, when, and whether to trust its answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "redis/decide/redirect.hpp"
#include "redis/decide/view.hpp"

namespace holdfast::redis::cluster {

/// A client's current map of a cluster, and what it takes to change it. Pure.
/// Views have no time and no number, so it is unknown which of two is newer, and one node may be wrong. So each slot is
/// decided separately. A view's owner for a slot is accepted at once
/// - if the slot had no owner,
/// - if the present owner itself says so, or is in doubt (away, or a replica now),
/// and otherwise when a second node says the same. Leaving a slot without an owner always takes two: a node that is
/// being failed over may know only itself. A MOVED is accepted at once. It outweighs any view requested earlier, and
/// for kGossip also any view that still names the node that sent the MOVED.
class KnownMap {
 public:
  /// How long it may take until all nodes have heard of a change.
  static constexpr base::Duration kGossip = std::chrono::seconds(10);

  /// `from` has replied that `to` serves the slot.
  void correct(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to);

  struct Word {
    base::TimePoint now;
    base::TimePoint asked_at;
    const NodeAddress& node;  ///< The node that says it.
    const View& view;
  };
  /// Returns whether a node is in doubt.
  using Doubted = std::function<bool(const NodeAddress&)>;
  /// False: at least one slot waits for a second node's word.
  bool hear(const Word& word, const Doubted& doubted);

  /// Null: none received yet.
  const std::shared_ptr<const View>& view() const { return view_; }

 private:
  struct Correction {
    NodeAddress from, to;
    base::TimePoint at;
  };
  struct Pending {
    NodeAddress node;
    View view;
  };
  class Decision;

  std::shared_ptr<const View> view_;
  std::map<std::uint16_t, Correction> corrections_;  // that views may not contain yet; the last for each slot
  std::unique_ptr<const Pending> pending_;           // the last word that was not fully accepted
};

/// Which cluster node to ask for the map next. Pure. In a round each node that is not in doubt is asked once: first the
/// map's primaries (most are already connected), then its replicas, then the seeds that are not in it; each group in
/// random order. Nodes in doubt are asked only when all are in doubt, since one that is away would delay each round.
/// After kMisses failures in a row a seed is next, since all nodes of the map may have new addresses.
class Rounds {
 public:
  static constexpr int kMisses = 3;
  /// problem() names this many nodes at most, with this many bytes of each one's cause.
  static constexpr std::size_t kMostTold = 8;
  static constexpr std::size_t kLongestCause = 200;

  /// `seeds`: not empty.
  Rounds(const std::vector<NodeAddress>& seeds, std::uint64_t chance);

  /// The nodes of the map and the seeds, each once.
  const std::vector<NodeAddress>& nodes() const { return nodes_; }
  void set_map(const View& view);

  /// Begins another round when this one is over.
  NodeAddress next();
  /// All have been asked, including those in doubt.
  bool over() const;
  /// Begins another round, in which no node is in doubt.
  void begin_anew();

  void doubt(const NodeAddress& node);
  bool doubted(const NodeAddress& node) const;
  void on_answer() { misses_ = 0; }
  /// The node is in doubt from now on.
  void on_failure(const NodeAddress& node, const std::string& cause);
  /// The nodes that failed in the last round, and why.
  std::string problem() const;

 private:
  enum class Kind : std::uint8_t { primary, replica, seed };
  struct State {
    Kind kind = Kind::seed;
    bool asked = false;
    bool doubted = false;
    std::string cause{};  // of its last failure
  };
  State* find(const NodeAddress& node);

  const std::vector<NodeAddress> seeds_;
  std::mt19937_64 random_;
  std::vector<NodeAddress> nodes_;
  std::vector<State> states_;                                          // of the same
  std::unordered_map<NodeAddress, std::size_t, AddressHash> indices_;  // in these
  int misses_ = 0;
};

/// When to ask a cluster's nodes for the map. Pure. The pauses between one client's questions: a random share of the
/// step, from half to all of it. Steps begin with kFirst and double, up to kLongestAtFirst while trouble is younger
/// than kFresh (the time of failovers), and up to kLongest afterwards. They are multiplied by the square root of a
/// third of the number of primaries, since larger clusters give longer answers and tend to have more clients; but not
/// beyond twice kLongestAtFirst, and kLongest. After kQuiet without trouble the steps start again. A doubt leads to a
/// question within kSpread times that root, but not before the pause after the last question is over. Without doubts, a
/// question comes every kRefresh, plus or minus half.
class SurveyPace {
 public:
  static constexpr base::Duration kSpread = std::chrono::milliseconds(50);
  static constexpr base::Duration kFirst = std::chrono::milliseconds(100);
  static constexpr base::Duration kLongestAtFirst = std::chrono::seconds(1);
  static constexpr base::Duration kFresh = std::chrono::seconds(30);
  static constexpr base::Duration kLongest = std::chrono::seconds(5);
  static constexpr base::Duration kQuiet = std::chrono::seconds(20);
  static constexpr base::Duration kRefresh = std::chrono::seconds(30);

  explicit SurveyPace(std::uint64_t chance);

  /// When the next question is due; `max()`: one is pending.
  base::TimePoint due() const { return due_; }
  /// There was no trouble for kQuiet.
  bool calm(base::TimePoint now) const { return !last_trouble_ || now - *last_trouble_ >= kQuiet; }

  void on_asked() { due_ = base::TimePoint::max(); }
  /// Something contradicts the map. Moves the next question; if one is pending, use note_trouble().
  void on_doubt(base::TimePoint now);
  void note_trouble(base::TimePoint now);
  /// A question has ended; `again`: another one is needed, which also counts as trouble.
  void on_ended(base::TimePoint now, bool again);
  /// A request waits for a first map.
  void hurry(base::TimePoint now);
  /// The number in the map.
  void set_primaries(std::size_t number);

 private:
  /// A random duration between that share of `longest` and all of it.
  base::Duration some_of(base::Duration longest, double least);
  base::Duration next_pause(base::TimePoint now);

  std::mt19937_64 random_;
  double factor_ = 1;
  int step_ = 0;  // questions during this trouble
  base::TimePoint trouble_began_, last_end_;
  std::optional<base::TimePoint> last_trouble_;
  base::Duration pause_{};  // after the last question
  base::TimePoint due_ = base::TimePoint::max();
  bool refresh_ = true;  // the next question is only a refresh
};

/// Pure: times are inputs, randomness comes from a seed. One question at a time, however many requests wait, with
/// pauses in between (SurveyPace), so that thousands of clients do not flood hundreds of nodes when one is gone. Each
/// question of a round goes to another node (Rounds), and its answer changes the map as far as it is trusted
/// (KnownMap). While a second node's word is needed, or a slot has no owner, kFurther questions follow by themselves.
/// Not thread-safe.
class Survey {
 public:
  static constexpr int kFurther = 8;

  Survey(const std::vector<NodeAddress>& seeds, std::uint64_t chance);

  struct Step {
    std::optional<NodeAddress> ask{};             ///< Ask this node now; on_answer() or on_failure() must follow.
    std::shared_ptr<const View> adopt = nullptr;  ///< The new map.
    /// There is no map, and no node could be asked: the reason, for callers waiting for the first map. They may keep
    /// waiting.
    std::string problem{};
    base::TimePoint due = base::TimePoint::max();  ///< When to call on_time(); replaces the previous time.
  };

  /// The first question.
  Step start(base::TimePoint now);
  /// Something contradicts the map: a node is away or has been demoted, a slot has moved, or has no owner.
  /// `about`: the node that said so, or is away. It is not asked first, and another owner of its slots is accepted from
  /// a single node; empty: no particular node.
  Step on_doubt(base::TimePoint now, const std::optional<NodeAddress>& about);
  /// `from` has replied with MOVED that `to` serves the slot; views do not undo that until they can be newer. Must be
  /// followed by a doubt.
  void on_corrected(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to);
  /// Only an answer to the last question is used.
  Step on_answer(base::TimePoint now, const NodeAddress& node, const View& view);
  Step on_failure(base::TimePoint now, const NodeAddress& node, const std::string& cause);
  Step on_time(base::TimePoint now);
  /// A request waits for a slot without owner; without a map, this shortens the pause after a round of failures.
  Step on_wanted(base::TimePoint now);

  /// Nodes that may be asked: the map's primaries and replicas, and the seeds.
  const std::vector<NodeAddress>& nodes() const { return rounds_.nodes(); }

 private:
  struct Question {
    NodeAddress to;
    base::TimePoint asked_at;
  };
  Step ask(base::TimePoint now);
  bool is_answer_of(const NodeAddress& node) const { return question_ && question_->to == node; }

  KnownMap map_;
  SurveyPace pace_;
  Rounds rounds_;
  std::optional<Question> question_;
  bool doubt_ = false;  // came while a question was under way
  int further_ = 0;
};

}  // namespace holdfast::redis::cluster
