#include "redis/connection/listeners.hpp"

#include <utility>
#include <vector>

namespace holdfast::redis {

std::uint64_t Listeners::begin_use(const std::string& channel, Listener listener) {
  const base::Guard guard(mutex_);
  entries_[channel].listeners.emplace(++last_use_, std::move(listener));
  return last_use_;
}

void Listeners::end_use(const std::string& channel, std::uint64_t use, base::TimePoint now) {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  if (found == entries_.end()) return;
  found->second.listeners.erase(use);
  found->second.last_used = now;
  if (found->second.forgotten()) entries_.erase(found);
}

bool Listeners::none() const {
  const base::Guard guard(mutex_);
  return entries_.empty();
}

std::size_t Listeners::users(const std::string& channel) const {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  return found == entries_.end() ? 0 : found->second.listeners.size();
}

std::uint64_t Listeners::messages(const std::string& channel) const {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  return found == entries_.end() ? 0 : found->second.messages;
}

void Listeners::begin_subscription(const std::string& channel) {
  const base::Guard guard(mutex_);
  ++entries_[channel].subscriptions;
}

void Listeners::end_subscription(const std::string& channel) {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  if (found == entries_.end()) return;
  --found->second.subscriptions;
  if (found->second.forgotten()) entries_.erase(found);
}

void Listeners::on_message(const std::string& channel) {
  std::vector<Listener> listeners;
  {
    const base::Guard guard(mutex_);
    const auto found = entries_.find(channel);
    if (found == entries_.end()) return;
    ++found->second.messages;
    for (const auto& [id, listener] : found->second.listeners) listeners.push_back(listener);
  }
  for (const Listener& listener : listeners) listener();
}

bool Listeners::idle(const std::string& channel, base::TimePoint since) const {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  return found == entries_.end() || (found->second.listeners.empty() && found->second.last_used <= since);
}

}  // namespace holdfast::redis
