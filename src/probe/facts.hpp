// SPDX-License-Identifier: Apache-2.0
// Facts collected about some servers, before they are judged. Plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>
#include <holdfast/probe.hpp>

#include "redis/decide/view.hpp"

namespace holdfast::probing {

using std::chrono::microseconds;

/// `name:value` lines of INFO, or the pairs of a map.
using Fields = std::map<std::string, std::string, std::less<>>;
/// Empty if there is no such field.
std::string_view text_of(const Fields& fields, std::string_view name);
std::string_view text_of(Fields&& fields, std::string_view name) = delete;  // it would dangle
/// Empty if there is no such field, or it is not a number.
std::optional<long long> number_of(const Fields& fields, std::string_view name);

/// Whether a command is permitted, as far as this could be found out without running it.
enum class Access : std::uint8_t {
  untested,
  allowed,
  other_names,  ///< But not with the key or the channel that was tried.
  denied,
  missing,
};

/// ROLE: a primary's view of one replica.
struct ReplicaSeen {
  std::string host;
  std::uint16_t port = 0;
  long long offset = 0;
};

struct Role {
  std::string name;  ///< master, slave, sentinel; empty: unknown.
  long long offset = 0;
  std::vector<ReplicaSeen> replicas;  ///< Of a primary.
  std::string primary_host;           ///< Of a replica.
  std::uint16_t primary_port = 0;
  std::string link;  ///< Of a replica: connected, connect, sync, ...
};

struct RoundTrips {
  microseconds p50{}, p99{};
};

struct ClockReading {
  microseconds ahead{};  ///< Of this machine's.
  microseconds error{};
};

struct SlowScripts {
  std::size_t count = 0;
  microseconds longest{};
};

/// What a bounded walk through the key space found.
struct KeysSeen {
  std::size_t looked_at = 0;
  bool all = false;  ///< The walk was complete.
  std::size_t eternal = 0;
  std::vector<std::string> eternal_names;  ///< Only the first ones.
  std::size_t latches = 0;
};

/// What a Sentinel reports about the primary.
struct SentinelView {
  std::string host;  ///< SENTINEL GET-MASTER-ADDR-BY-NAME; empty: no primary of this name.
  std::uint16_t port = 0;
  Fields primary;  ///< SENTINEL MASTER
  std::vector<Fields> replicas;
  std::vector<Fields> others;  ///< The other Sentinels that it knows.
  std::string quorum;          ///< SENTINEL CKQUORUM, a line for people.
  bool quorum_met = false;
};

/// A line of CLUSTER NODES.
struct ClusterLine {
  std::string id;
  std::string address;         ///< `host:port`, as the nodes know it.
  std::string flags;           ///< `myself,master`, `slave,fail?`, ...
  std::string primary;         ///< The id of a replica's primary; empty: not a replica.
  std::size_t slots = 0;       ///< How many it serves.
  std::vector<int> migrating;  ///< Slots moving to another node; only in the reporting node's own line.
  std::vector<int> importing;  ///< Slots moving from another node.
};

/// What a node reports about its cluster.
struct ClusterWord {
  std::shared_ptr<const redis::cluster::View> view;  ///< Null: not reported.
  Fields info;                                       ///< CLUSTER INFO
  std::vector<ClusterLine> nodes;                    ///< CLUSTER NODES; empty: not reported.
};

/// One node. Unanswered questions leave their fields empty, and `refused` says why.
struct NodeFacts {
  std::string address;
  ProbedNode::Part part = ProbedNode::Part::server;
  Errc trouble{};
  std::string problem;                         ///< Why it was not reached.
  std::map<std::string, std::string> refused;  ///< By question; for CONFIG also by parameter (`CONFIG maxclients`).
  std::string silent_at;                       ///< The first question to which no reply came in time.
  std::string busy;                            ///< It replied BUSY or LOADING.

  Fields info, config, client;  ///< `client`: CLIENT INFO of our connection.
  Role role;
  std::string user;  ///< The user of our connection.
  std::optional<bool> default_user_is_open;
  bool all_commands = false;  ///< The user's ACL ends in `+@all`, with no exceptions.
  bool dry_run = false;       ///< ACL DRYRUN was answered.
  /// Which keys the user may read and write, as in its ACL. None: unknown.
  std::optional<std::vector<std::string>> key_patterns;
  std::map<std::string, Access> access;  ///< By the names of commands.hpp.
  std::optional<RoundTrips> round_trips;
  std::optional<ClockReading> clock;
  std::optional<SlowScripts> slow;
  std::optional<KeysSeen> keys;
  std::optional<SentinelView> sentinel;
  std::optional<ClusterWord> cluster;  ///< None: not a node of a cluster, or not permitted.

  bool answered() const { return problem.empty(); }
};

/// The client's settings that matter for the judgement.
struct Settings {
  bool unix_socket = false;
  bool tls = false;
  bool verifies = true;       ///< With TLS: the certificate must be trusted, ...
  bool verifies_host = true;  ///< ... and for the host, or the name that was told.
  std::string host;
  bool password = false;  ///< There is one.
  std::string name_prefix;
  std::string lock;  ///< The lock whose key and channel are tried; empty: none.
  std::chrono::milliseconds lease{};
  Acks acks{};
  bool loss_notice = false;
  std::string sentinel_primary;  ///< Empty: no Sentinels.
  bool cluster = false;          ///< The URL says so.
};

/// All that judge() needs. The first node is the client's server; of a cluster, one of its primaries.
struct Facts {
  Settings settings;
  std::vector<NodeFacts> nodes;
  std::size_t left_out = 0;                 ///< Nodes beyond the limit, which were not queried.
  std::vector<std::string> silent_seeds{};  ///< For a cluster: nodes of the URL that gave no map, each with the reason.
};

}  // namespace holdfast::probing
