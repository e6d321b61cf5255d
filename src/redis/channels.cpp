#include "redis/channels.hpp"

#include <algorithm>

namespace holdfast::redis {

std::uint64_t Channels::begin_use(const std::string& channel, Listener listener) {
  const std::scoped_lock guard(mutex_);
  entries_[channel].listeners.emplace(++last_use_, std::move(listener));
  return last_use_;
}

void Channels::end_use(const std::string& channel, std::uint64_t use, base::TimePoint now) {
  const std::scoped_lock guard(mutex_);
  const auto found = entries_.find(channel);
  if (found == entries_.end()) return;
  found->second.listeners.erase(use);
  found->second.last_used = now;
  if (found->second.forgotten(now)) entries_.erase(found);
}

bool Channels::none() const {
  const std::scoped_lock guard(mutex_);
  return entries_.empty();
}

std::size_t Channels::users(const std::string& channel) const {
  const std::scoped_lock guard(mutex_);
  const auto found = entries_.find(channel);
  return found == entries_.end() ? 0 : found->second.listeners.size();
}

bool Channels::subscribed(const std::string& channel) const {
  const std::scoped_lock guard(mutex_);
  const auto found = entries_.find(channel);
  return found != entries_.end() && found->second.subscribed;
}

bool Channels::all_subscribed(const std::vector<std::string>& channels) const {
  return std::ranges::all_of(channels, [this](const std::string& channel) { return subscribed(channel); });
}

void Channels::on_subscribed(const std::string& channel) {
  const std::scoped_lock guard(mutex_);
  entries_[channel].subscribed = true;
}

void Channels::on_unsubscribed(const std::string& channel) {
  const std::scoped_lock guard(mutex_);
  const auto found = entries_.find(channel);
  if (found != entries_.end()) found->second.subscribed = false;
}

void Channels::on_message(const std::string& channel) {
  std::vector<Listener> listeners;
  {
    const std::scoped_lock guard(mutex_);
    const auto found = entries_.find(channel);
    if (found == entries_.end()) return;
    for (const auto& [id, listener] : found->second.listeners) listeners.push_back(listener);
  }
  for (const Listener& listener : listeners) listener();
}

void Channels::on_disconnected() {
  const std::scoped_lock guard(mutex_);
  for (auto& [channel, entry] : entries_) entry.subscribed = false;
}

std::vector<std::string> Channels::take_idle(base::TimePoint idle_since, base::TimePoint now) {
  std::vector<std::string> idle;
  const std::scoped_lock guard(mutex_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    if (entry.listeners.empty() && entry.subscribed && entry.last_used <= idle_since) {
      idle.push_back(it->first);
      entry.subscribed = false;
    }
    it = entry.forgotten(now) ? entries_.erase(it) : std::next(it);
  }
  return idle;
}

bool Channels::any_subscribed() const {
  const std::scoped_lock guard(mutex_);
  return std::ranges::any_of(entries_, [](const auto& entry) { return entry.second.subscribed; });
}

void Channels::deny(const std::string& channel, std::string cause, base::TimePoint until) {
  const std::scoped_lock guard(mutex_);
  entries_[channel].denied = std::move(cause);
  entries_[channel].denied_until = until;
}

std::string Channels::denied(const std::string& channel, base::TimePoint now) const {
  const std::scoped_lock guard(mutex_);
  const auto found = entries_.find(channel);
  return found != entries_.end() && now < found->second.denied_until ? found->second.denied : std::string();
}

}  // namespace holdfast::redis
