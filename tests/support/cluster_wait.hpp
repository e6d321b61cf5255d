// SPDX-License-Identifier: Apache-2.0
// Waiting for the nodes of a cluster, which hear of each other a little at a time.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/cluster_node.hpp"
#include "support/raw.hpp"
#include "support/wait.hpp"

namespace holdfast::test {

inline constexpr std::chrono::milliseconds kClusterPatience =
    2 * kBusyMachine;  // machines under load see elections fail

/// The reply, if it is no error.
template <class... Args>
Reply told(Raw& raw, const Args&... args) {
  Reply reply = raw.command(args...);
  if (reply.is_error()) throw std::runtime_error(reply.text);
  return reply;
}

inline std::vector<ClusterNode> view_of(const RedisServer& server) {
  return read_cluster_nodes(ask(server).command("CLUSTER", "NODES").text);
}

/// An exception, of a connection that the server has just closed or of an error reply, counts as "not yet".
template <class Predicate>
void wait_for(const std::string& what, Predicate&& predicate) {
  std::string why;
  const auto check = [&] {
    try {
      why.clear();
      return static_cast<bool>(predicate());
    } catch (const std::runtime_error& error) {
      why = error.what();
      return false;
    }
  };
  if (!eventually(check, kClusterPatience)) throw std::runtime_error("the cluster: " + what + ": " + why);
}

}  // namespace holdfast::test
