#include "redis/connection/subscriptions.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

bool Subscriptions::subscribed(const std::string& channel) const {
  const base::Guard guard(mutex_);
  return own_.contains(channel);
}

bool Subscriptions::all_subscribed(const std::vector<std::string>& channels) const {
  return std::ranges::all_of(channels, [this](const std::string& channel) { return subscribed(channel); });
}

void Subscriptions::expect_own(const std::string& channel) {
  const base::Guard guard(mutex_);
  const auto found = own_.find(channel);
  if (found != own_.end()) ++found->second;
}

void Subscriptions::on_subscribed(const std::string& channel) {
  const base::Guard guard(mutex_);
  if (own_.contains(channel)) return;
  listeners_->begin_subscription(channel);
  try {
    own_.emplace(channel, 0);
  } catch (...) {
    listeners_->end_subscription(channel);
    throw;
  }
}

void Subscriptions::on_unsubscribed(const std::string& channel) {
  const base::Guard guard(mutex_);
  if (own_.erase(channel) > 0) listeners_->end_subscription(channel);
}

void Subscriptions::on_message(const std::string& channel) {
  {
    const base::Guard guard(mutex_);
    const auto found = own_.find(channel);
    if (found != own_.end() && found->second > 0) {
      --found->second;
      return;
    }
  }
  listeners_->on_message(channel);
}

void Subscriptions::on_disconnected() {
  const base::Guard guard(mutex_);
  for (const auto& [channel, own] : own_) listeners_->end_subscription(channel);
  own_.clear();
}

/// With the mutex locked throughout: whoever begins to use a channel once this has found it idle learns, when he asks,
/// that it is not subscribed.
std::vector<std::string> Subscriptions::take_idle(base::TimePoint idle_since) {
  std::vector<std::string> idle;
  const base::Guard guard(mutex_);
  for (auto it = own_.begin(); it != own_.end();) {
    if (!listeners_->idle(it->first, idle_since)) {
      ++it;
      continue;
    }
    idle.push_back(it->first);
    listeners_->end_subscription(it->first);
    it = own_.erase(it);
  }
  return idle;
}

bool Subscriptions::any_subscribed() const {
  const base::Guard guard(mutex_);
  return !own_.empty();
}

void Subscriptions::deny(const std::vector<std::string>& channels, Why why, base::TimePoint now) {
  const base::Guard guard(mutex_);
  if (now >= next_sweep_) {
    std::erase_if(denials_, [now](const auto& denial) { return now >= denial.second.until; });
    next_sweep_ = now + kDenialLasts;
  }
  denials_[channels] = {std::move(why), now + kDenialLasts};
}

Subscriptions::Why Subscriptions::denied(const std::vector<std::string>& channels, base::TimePoint now) const {
  const base::Guard guard(mutex_);
  if (denials_.empty()) return nullptr;
  const std::vector<std::string> any;
  for (const std::vector<std::string>* asked : {&any, &channels}) {
    const auto found = denials_.find(*asked);
    if (found != denials_.end() && now < found->second.until) return found->second.why;
  }
  return nullptr;
}

}  // namespace holdfast::redis
