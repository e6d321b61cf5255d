#include "redis/sentinel/known_sentinels.hpp"

#include <algorithm>

namespace holdfast::redis::sentinel {
namespace {

bool has(const std::vector<NodeAddress>& list, const NodeAddress& address) {
  return std::ranges::find(list, address) != list.end();
}

}  // namespace

void KnownSentinels::worked(const NodeAddress& address) {
  std::erase(failed_, address);
  const auto found = std::ranges::find(order_, address);
  if (found != order_.end()) std::rotate(order_.begin(), found, found + 1);
}

void KnownSentinels::failed(const NodeAddress& address) {
  const auto found = std::ranges::find(order_, address);
  if (found == order_.end()) return;
  if (!has(failed_, address)) failed_.push_back(address);
  std::rotate(found, found + 1, order_.end());
}

void KnownSentinels::heard_of(const std::vector<NodeAddress>& others) {
  for (const NodeAddress& each : others) {
    if (has(order_, each) || !make_room()) continue;
    order_.push_back(each);
  }
}

bool KnownSentinels::make_room() {
  if (order_.size() < kMost) return true;
  const auto useless = std::ranges::find_if(failed_, [this](const NodeAddress& each) { return !has(users_, each); });
  if (useless == failed_.end()) return false;
  std::erase(order_, *useless);
  failed_.erase(useless);
  return true;
}

}  // namespace holdfast::redis::sentinel
