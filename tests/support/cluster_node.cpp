// SPDX-License-Identifier: Apache-2.0
#include "support/cluster_node.hpp"

#include <sstream>
#include <stdexcept>

namespace holdfast::test {
namespace {

ClusterNode read_line(const std::string& line) {
  ClusterNode node;
  std::istringstream words(line);
  std::string address, flags, ping, pong, link;
  if (!(words >> node.id >> address >> flags >> node.primary_id >> ping >> pong >> node.epoch >> link)) {
    throw std::runtime_error("not a line of CLUSTER NODES: " + line);
  }
  if (node.primary_id == "-") node.primary_id.clear();
  const auto flagged = [&](std::string_view flag) { return ("," + flags + ",").find(flag) != std::string::npos; };
  node.myself = flagged(",myself,");
  node.primary = flagged(",master,");
  node.replica = flagged(",slave,");
  node.doubtful = flagged(",fail,") || flagged(",fail?,") || flagged(",handshake,") || flagged(",noaddr,") ||
                  (!node.myself && link != "connected");
  for (std::string range; words >> range;) {
    if (range.starts_with('[')) continue;
    const std::size_t dash = range.find('-');
    const int first = std::stoi(range);
    node.slots.emplace_back(first, dash == std::string::npos ? first : std::stoi(range.substr(dash + 1)));
  }
  return node;
}

}  // namespace

std::vector<ClusterNode> read_cluster_nodes(std::string_view text) {
  std::vector<ClusterNode> nodes;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) nodes.push_back(read_line(line));
  }
  return nodes;
}

}  // namespace holdfast::test
