// SPDX-License-Identifier: Apache-2.0
#include "redis/decide/view.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "redis/decide/redirect.hpp"

namespace holdfast::redis::cluster {
namespace {

/// Endpoint, port, and possibly the id and metadata, which are not needed.
std::optional<NodeAddress> read_node(const base::Reply& node, const NodeAddress& asked) {
  if (node.elements.size() < 2 || !node.elements[1].is_integer()) return {};
  const base::Reply& endpoint = node.elements[0];
  if (!endpoint.is_null() && !endpoint.is_text()) return {};
  return told_address(endpoint.text, node.elements[1].integer, asked);
}

std::string read_id(const base::Reply& node) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (node.elements.size() < 3) return {};
  const std::string& id = node.elements[2].text;
  return id.size() == 40 && std::ranges::all_of(id, hex) ? id : std::string();
}

class Reading {
 public:
  explicit Reading(const NodeAddress& asked) : asked_(asked) { view_.served_by.fill(View::kNobody); }

  /// First and last slot, the primary, its replicas. False: invalid.
  bool add(const base::Reply& range) {
    const std::vector<base::Reply>& told = range.elements;
    if (told.size() < 2 || !told[0].is_integer() || !told[1].is_integer()) return false;
    if (told[0].integer < 0 || told[1].integer < told[0].integer) return false;
    if (told[1].integer >= static_cast<std::int64_t>(kSlots)) return false;
    const auto first = static_cast<std::size_t>(told[0].integer);
    const auto last = static_cast<std::size_t>(told[1].integer);
    for (std::size_t slot = first; slot <= last; ++slot) {
      if (told_.test(slot)) return false;
      told_.set(slot);
    }
    if (told.size() < 3) return true;
    const auto address = read_node(told[2], asked_);
    if (!address) return true;
    const std::uint16_t primary = index_of(*address, told[2]);
    std::fill(view_.served_by.begin() + told[0].integer, view_.served_by.begin() + told[1].integer + 1, primary);
    view_.covered += last - first + 1;
    view_.primaries[primary].replicas = std::max(view_.primaries[primary].replicas, read_replicas(told));
    return true;
  }
  View take() { return std::move(view_); }

 private:
  std::uint16_t index_of(const NodeAddress& address, const base::Reply& node) {
    const auto [found, added] = indices_.try_emplace(address, static_cast<std::uint16_t>(view_.primaries.size()));
    if (added) view_.primaries.push_back({address, read_id(node), 0});
    return found->second;
  }
  /// How many there are after the primary.
  int read_replicas(const std::vector<base::Reply>& told) {
    int number = 0;
    for (std::size_t i = 3; i < told.size() && i < 3 + View::kMostReplicas; ++i) {
      const auto address = read_node(told[i], asked_);
      if (!address) continue;
      ++number;
      if (view_.replicas.size() < View::kMostReplicas && replicas_.insert(*address).second) {
        view_.replicas.push_back(*address);
      }
    }
    return number;
  }

  const NodeAddress& asked_;
  View view_;
  SlotSet told_;
  std::unordered_map<NodeAddress, std::uint16_t, AddressHash> indices_;
  std::unordered_set<NodeAddress, AddressHash> replicas_;
};

}  // namespace

std::optional<View> read_view(const base::Reply& reply, const NodeAddress& asked) {
  if (!reply.is_array()) return {};
  Reading reading(asked);
  for (const base::Reply& range : reply.elements) {
    if (!reading.add(range)) return {};
  }
  return reading.take();
}

}  // namespace holdfast::redis::cluster
