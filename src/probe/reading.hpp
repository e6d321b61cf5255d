// Texts and replies of servers as values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"
#include "probe/facts.hpp"

namespace holdfast::probe {

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

/// What the reply to a trial, or to ACL DRYRUN, says of the command.
Access read_access(const base::Reply& reply);
/// It is a key's or a channel's name that is refused, not the command.
bool refuses_name(std::string_view text);

/// An error for people: its first line, without the arguments that servers repeat.
std::string in_words(std::string_view error);

}  // namespace holdfast::probe
