#include "redis/connection/channels.hpp"

#include <algorithm>

namespace holdfast::redis {

std::uint64_t Channels::begin_use(const std::string& channel, Listener listener) {
  const base::Guard guard(mutex_);
  entries_[channel].listeners.emplace(++last_use_, std::move(listener));
  return last_use_;
}

void Channels::end_use(const std::string& channel, std::uint64_t use, base::TimePoint now) {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  if (found == entries_.end()) return;
  found->second.listeners.erase(use);
  found->second.last_used = now;
  if (found->second.forgotten()) entries_.erase(found);
}

bool Channels::none() const {
  const base::Guard guard(mutex_);
  return entries_.empty();
}

std::size_t Channels::users(const std::string& channel) const {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  return found == entries_.end() ? 0 : found->second.listeners.size();
}

std::uint64_t Channels::messages(const std::string& channel) const {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  return found == entries_.end() ? 0 : found->second.messages;
}

void Channels::expect_own(const std::string& channel) {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  if (found != entries_.end()) ++found->second.own;
}

bool Channels::subscribed(const std::string& channel) const {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  return found != entries_.end() && found->second.subscribed;
}

bool Channels::all_subscribed(const std::vector<std::string>& channels) const {
  return std::ranges::all_of(channels, [this](const std::string& channel) { return subscribed(channel); });
}

void Channels::on_subscribed(const std::string& channel) {
  const base::Guard guard(mutex_);
  entries_[channel].subscribed = true;
}

void Channels::on_unsubscribed(const std::string& channel) {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  if (found != entries_.end()) found->second.end_subscription();
}

void Channels::on_message(const std::string& channel) {
  std::vector<Listener> listeners;
  {
    const base::Guard guard(mutex_);
    const auto found = entries_.find(channel);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    if (entry.own > 0) {
      --entry.own;
      return;
    }
    ++entry.messages;
    for (const auto& [id, listener] : found->second.listeners) listeners.push_back(listener);
  }
  for (const Listener& listener : listeners) listener();
}

void Channels::on_disconnected() {
  const base::Guard guard(mutex_);
  for (auto& [channel, entry] : entries_) entry.end_subscription();
}

std::vector<std::string> Channels::take_idle(base::TimePoint idle_since) {
  std::vector<std::string> idle;
  const base::Guard guard(mutex_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    if (entry.listeners.empty() && entry.subscribed && entry.last_used <= idle_since) {
      idle.push_back(it->first);
      entry.end_subscription();
    }
    it = entry.forgotten() ? entries_.erase(it) : std::next(it);
  }
  return idle;
}

bool Channels::any_subscribed() const {
  const base::Guard guard(mutex_);
  return std::ranges::any_of(entries_, [](const auto& entry) { return entry.second.subscribed; });
}

void Channels::deny(const std::vector<std::string>& channels, Why why, base::TimePoint now) {
  const base::Guard guard(mutex_);
  if (now >= next_sweep_) {
    std::erase_if(denials_, [now](const auto& denial) { return now >= denial.second.until; });
    next_sweep_ = now + kDenialLasts;
  }
  denials_[channels] = {std::move(why), now + kDenialLasts};
}

Channels::Why Channels::denied(const std::vector<std::string>& channels, base::TimePoint now) const {
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
