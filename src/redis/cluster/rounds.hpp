// Which cluster node to ask for the map next. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/config.hpp>

#include "redis/cluster/redirect.hpp"
#include "redis/cluster/view.hpp"

namespace holdfast::redis::cluster {

/// In a round each node that is not in doubt is asked once: first the map's primaries (most are already connected),
/// then its replicas, then the seeds that are not in it; each group in random order. Nodes in doubt are asked only when
/// all are in doubt, since one that is away would delay each round. After kMisses failures in a row a seed is next,
/// since all nodes of the map may have new addresses.
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

}  // namespace holdfast::redis::cluster
