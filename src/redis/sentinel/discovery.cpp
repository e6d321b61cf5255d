#include "redis/sentinel/discovery.hpp"

#include <algorithm>

#include "redis/sentinel/words.hpp"

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

Discovery::Discovery(std::vector<NodeAddress> order, base::Duration limit)
    : order_(std::move(order)),
      head_start_(std::min(kHeadStart, limit / 2 / static_cast<base::Duration::rep>(order_.size()))) {}

Discovery::Step Discovery::next(base::TimePoint now) {
  if (failures_.size() == order_.size()) {
    return {.ask = {}, .lost = std::ranges::all_of(failures_, [](const auto& each) { return each.has_value(); })};
  }
  Step step{.ask = failures_.size()};
  failures_.emplace_back();
  if (failures_.size() < order_.size()) step.look = now + head_start_;
  return step;
}

Discovery::Step Discovery::on_failure(std::size_t index, const std::string& why, base::TimePoint now) {
  failures_[index] = why;
  return next(now);
}

std::vector<NodeAddress> Discovery::silent() const {
  std::vector<NodeAddress> out;
  for (std::size_t i = 0; i < failures_.size(); ++i) {
    if (!failures_[i]) out.push_back(order_[i]);
  }
  return out;
}

std::string Discovery::problem() const {
  std::string out;
  for (std::size_t i = 0; i < failures_.size(); ++i) {
    if (!failures_[i]) continue;
    out += (out.empty() ? "no Sentinel knows the primary: " : "; ") + in_words(order_[i]) + ": " + *failures_[i];
  }
  return out;
}

std::string Discovery::missing() const {
  std::string out;
  for (std::size_t i = 0; i < failures_.size(); ++i) {
    if (!failures_[i]) out += (out.empty() ? "answer from Sentinel " : ", ") + in_words(order_[i]);
  }
  const std::string failed = problem();
  return failed.empty() ? out : out + " (" + failed + ")";
}

}  // namespace holdfast::redis::sentinel
