// SPDX-License-Identifier: Apache-2.0
// A node of a probe as its servers tell it, and what is made of it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/resp.hpp"
#include "probe/commands.hpp"
#include "probe/judge.hpp"
#include "probe/questions.hpp"
#include "probe/reading.hpp"

namespace holdfast::probing {

inline base::Reply text(std::string words) { return {.kind = base::Reply::Kind::text, .text = std::move(words)}; }
inline base::Reply error(std::string words) { return {.kind = base::Reply::Kind::error, .text = std::move(words)}; }
inline base::Reply number(std::int64_t value) { return {.kind = base::Reply::Kind::integer, .integer = value}; }
inline base::Reply list(std::vector<base::Reply> elements) {
  return {.kind = base::Reply::Kind::array, .elements = std::move(elements)};
}

/// A server without faults, of which each test changes something.
struct ProbeStory {
  ProbeStory() {
    facts.settings.host = "127.0.0.1";
    facts.settings.lease = std::chrono::seconds(30);
    facts.nodes.push_back(healthy("10.0.0.1:6379", ProbedNode::Part::server));
  }

  static NodeFacts healthy(std::string address, ProbedNode::Part part) {
    NodeFacts node;
    node.address = std::move(address);
    node.part = part;
    node.user = "app";
    node.info = read_info(
        "# Server\r\nredis_version:8.8.0\r\nredis_mode:standalone\r\nrun_id:aaaa\r\nconnected_clients:2\r\n"
        "maxclients:10000\r\nused_memory:1000\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"
        "rdb_last_bgsave_status:ok\r\naof_last_write_status:ok\r\nrole:master\r\nconnected_slaves:0\r\n"
        "master_replid:rrrr\r\nmaster_repl_offset:1000\r\n");
    node.config = {
        {"appendfsync", "always"},
        {"save", ""},
        {"min-replicas-to-write", "0"},
        {"protected-mode", "yes"},
        {"bind", "127.0.0.1"},
        {"timeout", "0"},
        {"client-output-buffer-limit", "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"}};
    node.role.name = "master";
    node.default_user_is_open = false;
    for (const NeededCommand& command : needed_commands()) node.access[std::string(command.name)] = Access::allowed;
    node.round_trips = RoundTrips{microseconds(100), microseconds(300)};
    node.clock = ClockReading{microseconds(50), microseconds(100)};
    node.slow = SlowScripts{};
    node.keys = KeysSeen{.looked_at = 10, .all = true, .eternal_names = {}};
    return node;
  }

  NodeFacts& server() { return facts.nodes.front(); }
  NodeFacts& add_replica(const std::string& address = "10.0.0.2:6379") {
    NodeFacts replica = healthy(address, ProbedNode::Part::replica);
    replica.role.name = "slave";
    replica.role.link = "connected";
    replica.info["role"] = "slave";
    replica.info["run_id"] = address;
    replica.info["master_link_status"] = "up";
    replica.info["slave_read_only"] = "1";
    replica.info["slave_priority"] = "100";
    facts.nodes.push_back(std::move(replica));
    const std::size_t replicas = facts.nodes.size() - 1;
    server().info["connected_slaves"] = std::to_string(replicas);
    server().info["slave" + std::to_string(replicas - 1)] =
        "ip=" + address.substr(0, address.find(':')) + ",port=6379,state=online,offset=1000,lag=0";
    server().config["min-replicas-to-write"] = "1";
    return facts.nodes.back();
  }
  NodeFacts& add_sentinel(const std::string& address) {
    facts.settings.sentinel_primary = "main";
    NodeFacts sentinel;
    sentinel.address = address;
    sentinel.part = ProbedNode::Part::sentinel;
    sentinel.info["run_id"] = address;
    SentinelView view;
    view.host = "10.0.0.1";
    view.port = 6379;
    view.primary = {{"flags", "master"}, {"runid", "aaaa"}, {"quorum", "2"}};
    view.others = {{{"runid", "x"}}, {{"runid", "y"}}};
    view.quorum = "OK 3 usable Sentinels. Quorum and failover authorization can be reached";
    view.quorum_met = true;
    sentinel.sentinel = std::move(view);
    facts.nodes.push_back(std::move(sentinel));
    return facts.nodes.back();
  }

  /// What is not as it should be: `severity id`, with the node if it is not the first.
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    for (const Finding& finding : judge(facts).findings) {
      if (finding.severity == Severity::ok) continue;
      const bool elsewhere = finding.node != facts.nodes.front().address;
      found.push_back(std::string(to_string(finding.severity)) + " " + finding.id +
                      (elsewhere ? " " + (finding.node.empty() ? "together" : finding.node) : ""));
    }
    return found;
  }
  /// The one with this id that is not ok, or else any; empty if there is none.
  Finding finding(const std::string& id) const {
    for (const Finding& each : judge(facts).findings) {  // the worst come first
      if (each.id == id) return each;
    }
    return {};
  }

  Facts facts;
};

}  // namespace holdfast::probing
