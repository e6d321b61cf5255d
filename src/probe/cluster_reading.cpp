// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "base/text.hpp"
#include "probe/reading.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::probing {
namespace {

/// -1: not a slot.
int to_slot(std::string_view text) {
  const auto slot = base::to_number<std::uint16_t>(text);
  return slot && *slot < redis::cluster::kSlots ? *slot : -1;
}

/// `5061`, `0-5460`, `[5061->-id]`, `[5061-<-id]`.
void read_slots(ClusterLine& line, std::string_view word) {
  const std::size_t dash = word.find('-');
  if (word.starts_with('[')) {
    const int slot = dash == word.npos ? -1 : to_slot(word.substr(1, dash - 1));
    if (slot >= 0) (word.substr(dash).starts_with("->-") ? line.migrating : line.importing).push_back(slot);
    return;
  }
  const int first = to_slot(word.substr(0, dash));
  const int last = dash == word.npos ? first : to_slot(word.substr(dash + 1));
  if (first >= 0 && last >= first) line.slots += static_cast<std::size_t>(last - first + 1);
}

}  // namespace

/// `id host:port@bus[,name...] flags primary ping pong epoch link slots...`
std::vector<ClusterLine> read_cluster_nodes(std::string_view text) {
  constexpr std::size_t kMost = 4096;  // four times as many nodes as are recommended
  std::vector<ClusterLine> lines;
  std::istringstream stream{std::string(text)};
  for (std::string each; lines.size() < kMost && std::getline(stream, each);) {
    std::istringstream words(each);
    ClusterLine line;
    std::string ping, pong, epoch, link;
    if (!(words >> line.id >> line.address >> line.flags >> line.primary >> ping >> pong >> epoch >> link)) continue;
    line.address.resize(std::min(line.address.find_first_of("@,"), line.address.size()));
    if (line.primary == "-") line.primary.clear();
    for (std::string word; words >> word;) read_slots(line, word);
    lines.push_back(std::move(line));
  }
  return lines;
}

bool holds_for_gone(const ClusterLine& line) {
  const std::string flags = "," + line.flags + ",";
  const auto has = [&](const char* flag) { return flags.find(flag) != flags.npos; };
  return has(",fail,") || has(",fail?,") || has(",handshake,") || has(",noaddr,");
}

std::vector<NodeAddress> replicas_in(const std::vector<ClusterLine>& lines) {
  std::vector<NodeAddress> replicas;
  for (const ClusterLine& line : lines) {
    const std::size_t colon = line.address.rfind(':');
    if (line.primary.empty() || holds_for_gone(line) || colon == line.address.npos) continue;
    replicas.push_back({line.address.substr(0, colon), to_port(std::string_view(line.address).substr(colon + 1))});
  }
  return replicas;
}

}  // namespace holdfast::probing
