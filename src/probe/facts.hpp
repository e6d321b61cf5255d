// What was learnt about some servers, before anybody judges it. Plain values.
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

#include <holdfast/acks.hpp>
#include <holdfast/error.hpp>
#include <holdfast/probe.hpp>

#include "redis/cluster/view.hpp"

namespace holdfast::probing {

using std::chrono::microseconds;

/// `name:value` lines of INFO, or the pairs of a map.
using Fields = std::map<std::string, std::string, std::less<>>;
/// Empty if there is none of this name.
std::string_view text_of(const Fields& fields, std::string_view name);
std::string_view text_of(Fields&& fields, std::string_view name) = delete;  // it would refer to what is gone
/// Empty if there is none, or it is no number.
std::optional<long long> number_of(const Fields& fields, std::string_view name);

/// What may be done with a command, as far as it could be found out without doing it.
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
  std::string name;  ///< master, slave, sentinel; empty: not known.
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
  bool all = false;  ///< Nothing was left out.
  std::size_t eternal = 0;
  std::vector<std::string> eternal_names;  ///< The first of them.
  std::size_t latches = 0;
};

/// What a Sentinel says of the primary that it was asked about.
struct SentinelView {
  std::string host;  ///< SENTINEL GET-MASTER-ADDR-BY-NAME; empty: it knows none of this name.
  std::uint16_t port = 0;
  Fields primary;  ///< SENTINEL MASTER
  std::vector<Fields> replicas;
  std::vector<Fields> others;  ///< The Sentinels that it knows, besides itself.
  std::string quorum;          ///< SENTINEL CKQUORUM, a line for people.
  bool quorum_met = false;
};

/// A line of CLUSTER NODES.
struct ClusterLine {
  std::string id;
  std::string address;         ///< `host:port`, as the nodes know it.
  std::string flags;           ///< `myself,master`, `slave,fail?`, ...
  std::string primary;         ///< The id of a replica's primary; empty: it is none.
  std::size_t slots = 0;       ///< How many it serves.
  std::vector<int> migrating;  ///< Slots on their way to another node; of the speaker's own line only.
  std::vector<int> importing;  ///< And from another one.
};

/// What a node of a cluster says of it.
struct ClusterWord {
  std::shared_ptr<const redis::cluster::View> view;  ///< Null: it has not said.
  Fields info;                                       ///< CLUSTER INFO
  std::vector<ClusterLine> nodes;                    ///< CLUSTER NODES; empty: it has not said.
};

/// One node. What was not answered is empty, and `refused` says why.
struct NodeFacts {
  std::string address;
  ProbedNode::Part part = ProbedNode::Part::server;
  Errc trouble{};
  std::string problem;                         ///< It was not reached.
  std::map<std::string, std::string> refused;  ///< By question; of CONFIG by parameter too (`CONFIG maxclients`).
  std::string silent_at;                       ///< The first question to which no reply came in time.
  std::string busy;                            ///< It has said BUSY or LOADING.

  Fields info, config, client;  ///< `client`: CLIENT INFO, of the connection that asks.
  Role role;
  std::string user;  ///< Who asks.
  std::optional<bool> default_user_is_open;
  bool all_commands = false;  ///< The user's ACL ends in `+@all`, with nothing taken away.
  bool dry_run = false;       ///< ACL DRYRUN was answered.
  /// Which keys the user may read and write, as in its ACL. None: it does not tell.
  std::optional<std::vector<std::string>> key_patterns;
  std::map<std::string, Access> access;  ///< By the names of commands.hpp.
  std::optional<RoundTrips> round_trips;
  std::optional<ClockReading> clock;
  std::optional<SlowScripts> slow;
  std::optional<KeysSeen> keys;
  std::optional<SentinelView> sentinel;
  std::optional<ClusterWord> cluster;  ///< None: it is no node of a cluster, or may not be asked.

  bool answered() const { return problem.empty(); }
};

/// What of a client's settings matters to the judgement.
struct Settings {
  bool unix_socket = false;
  bool tls = false;
  std::string host;
  bool password = false;  ///< There is one.
  std::string name_prefix;
  std::string lock;  ///< Whose key and channel are tried; empty: of no lock.
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
  std::size_t left_out = 0;                 ///< Nodes beyond those that are looked at.
  std::vector<std::string> silent_seeds{};  ///< Of a cluster: nodes of the URL that gave no map, each with why.
};

}  // namespace holdfast::probing
