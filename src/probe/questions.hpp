// What a node is asked, and what its replies say. Nothing here changes anything on a server.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"
#include "probe/facts.hpp"

namespace holdfast::probing {

/// Commands that travel together, and what their replies mean.
struct Question {
  std::string_view name;  ///< As in NodeFacts::refused.
  /// None: there is nothing to ask, as far as is known by now.
  std::vector<base::Command> (*commands)(const NodeFacts&, const Settings&);
  /// Errors among the replies are for it to read.
  void (*read)(NodeFacts&, const std::vector<base::Reply>&);
};

/// In the order in which they are asked: each may depend on what those before it have brought.
std::span<const Question> questions_for_server();
std::span<const Question> questions_for_sentinel();

/// The parameters that CONFIG GET is asked for. None of them is a secret.
std::span<const std::string_view> asked_parameters();

/// Who there is in a cluster, in the words of one node.
struct ClusterMembers {
  std::vector<NodeAddress> primaries, replicas;
};
base::Command ask_members();  ///< CLUSTER SLOTS
/// `asked` has said it. Without primaries: it knows none.
ClusterMembers read_members(const base::Reply& reply, const NodeAddress& asked);

base::Command ask_time();  ///< TIME
/// Empty: it does not tell.
std::optional<microseconds> read_time(const base::Reply& reply);
base::Command ask_ping();  ///< PING

/// The p50 and p99 of some round trips, of which there is at least one.
RoundTrips summarize(std::vector<microseconds> round_trips);

/// A walk through the key space: what is left of it when it is over is said by `KeysSeen::all`.
class KeyWalk {
 public:
  static constexpr std::size_t kMostKeys = 20'000;

  explicit KeyWalk(std::string name_prefix) : prefix_(std::move(name_prefix)) {}
  std::vector<base::Command> commands() const;
  /// Takes the replies to those. False: that was all.
  bool on_replies(const std::vector<base::Reply>& replies);
  const KeysSeen& seen() const { return seen_; }
  const std::string& refused() const { return refused_; }

 private:
  enum class Step { scan, expiries, types, owners };
  bool next_page();
  bool next_step(Step step, std::vector<std::string> keys);

  const std::string prefix_;
  Step step_ = Step::scan;
  std::string cursor_ = "0";
  std::vector<std::string> keys_;  // of this page
  KeysSeen seen_;
  std::string refused_;
};

}  // namespace holdfast::probing
