#include "redis/sentinel/discovery.hpp"

#include <algorithm>

#include "redis/sentinel/words.hpp"

namespace holdfast::redis::sentinel {

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
