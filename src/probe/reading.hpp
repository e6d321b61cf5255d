// Texts and replies of servers as values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"
#include "probe/facts.hpp"

namespace holdfast::probing {

/// What no lock is called.
constexpr std::string_view kTrialName = "holdfast:doctor";

Fields read_info(std::string_view text);           ///< Lines `name:value`.
Fields read_client_info(std::string_view line);    ///< Words `name=value`.
Fields read_pairs(const base::Reply& flat_array);  ///< Names and values in turn.
Role read_role(const base::Reply& reply);
SlowScripts read_slow_log(const base::Reply& reply);

/// CLUSTER NODES, as far as its lines make sense.
std::vector<ClusterLine> read_cluster_nodes(std::string_view text);
/// The speaker cannot reach it, or has not met it yet.
bool holds_for_gone(const ClusterLine& line);
/// Replicas that are there. CLUSTER SLOTS leaves out those that have not received anything yet.
std::vector<NodeAddress> replicas_in(const std::vector<ClusterLine>& lines);

/// `10.0.0.1:6379`, `[::1]:6379`.
std::string host_port(std::string_view host, std::uint16_t port);
/// 0: it is none.
std::uint16_t to_port(std::string_view text);

/// What the reply to a trial, to ACL DRYRUN, or inside a script says of the command.
Access read_access(const base::Reply& reply);
/// It is a key's or a channel's name that is refused, not the command.
bool refuses_name(std::string_view text);
/// The keys that a user may read and write, in the reply to ACL GETUSER. None: it does not tell, or not simply.
std::optional<std::vector<std::string>> read_key_patterns(const base::Reply& user);
/// A name that fits such a pattern; empty if it takes more than filling in.
std::string name_like(std::string_view pattern);

/// An error for people: its first line, without the arguments that servers repeat.
std::string in_words(std::string_view error);

}  // namespace holdfast::probing
