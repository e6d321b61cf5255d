// SPDX-License-Identifier: Apache-2.0
// The questions to a node, and what its replies mean. Nothing here changes anything on a server.
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

/// Commands that are sent together, and what their replies mean.
struct Question {
  std::string_view name;  ///< As in NodeFacts::refused.
  /// None: nothing to ask, given what is already known.
  std::vector<base::Command> (*commands)(const NodeFacts&, const Settings&);
  /// It also gets error replies.
  void (*read)(NodeFacts&, const std::vector<base::Reply>&);
};

/// In this order: each may depend on the answers to earlier ones.
std::span<const Question> questions_for_server();
std::span<const Question> questions_for_sentinel();

/// The parameters for CONFIG GET. None of them is secret.
std::span<const std::string_view> asked_parameters();

/// The members of a cluster, according to one node.
struct ClusterMembers {
  std::vector<NodeAddress> primaries, replicas;
};
base::Command ask_members();  ///< CLUSTER SLOTS
/// `asked` is the node that replied. No primaries: it knows none.
ClusterMembers read_members(const base::Reply& reply, const NodeAddress& asked);

base::Command ask_time();  ///< TIME
/// Empty: not reported.
std::optional<microseconds> read_time(const base::Reply& reply);
base::Command ask_ping();  ///< PING

/// The p50 and p99 of some round trips, at least one.
RoundTrips summarize(std::vector<microseconds> round_trips);

/// A bounded walk through the key space; `KeysSeen::all` says whether it was complete.
class KeyWalk {
 public:
  static constexpr std::size_t kMostKeys = 20'000;

  explicit KeyWalk(std::string name_prefix) : prefix_(std::move(name_prefix)) {}
  std::vector<base::Command> commands() const;
  /// Takes the replies to those commands. False: finished.
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
