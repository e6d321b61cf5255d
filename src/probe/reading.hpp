// SPDX-License-Identifier: Apache-2.0
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

/// A name that no lock uses.
constexpr std::string_view kTrialName = "holdfast:doctor";

Fields read_info(std::string_view text);           ///< Lines `name:value`.
Fields read_client_info(std::string_view line);    ///< Words `name=value`.
Fields read_pairs(const base::Reply& flat_array);  ///< Alternating names and values.
Role read_role(const base::Reply& reply);
SlowScripts read_slow_log(const base::Reply& reply);

/// The valid lines of CLUSTER NODES.
std::vector<ClusterLine> read_cluster_nodes(std::string_view text);
/// The reporting node cannot reach it, or has not met it yet.
bool holds_for_gone(const ClusterLine& line);
/// Replicas that are up. CLUSTER SLOTS omits those that have not received anything yet.
std::vector<NodeAddress> replicas_in(const std::vector<ClusterLine>& lines);

/// `10.0.0.1:6379`, `[::1]:6379`.
std::string host_port(std::string_view host, std::uint16_t port);
/// 0: not a port.
std::uint16_t to_port(std::string_view text);

/// What the reply to a trial, to ACL DRYRUN, or inside a script says about the command.
Access read_access(const base::Reply& reply);
/// True if a key's or channel's name is refused, not the command.
bool refuses_name(std::string_view text);
/// The keys that a user may read and write, in the reply to ACL GETUSER. None: not reported, or not in a simple form.
std::optional<std::vector<std::string>> read_key_patterns(const base::Reply& user);
/// A name that matches this pattern; empty if that takes more than filling in.
std::string name_like(std::string_view pattern);

/// An error for people: its first line, without the arguments that servers repeat.
std::string in_words(std::string_view error);

}  // namespace holdfast::probing
