// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/subscriptions.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace holdfast::redis {

Busy busy_for(std::string_view message) {
  if (!message.starts_with('-')) return std::nullopt;
  const auto left = base::to_number<std::int64_t>(message.substr(1));
  return left.value_or(0) > 0 ? Busy(*left) : std::nullopt;
}

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

void Listeners::on_message(const std::string& channel, Busy busy) {
  if (!busy) {
    const base::Guard guard(mutex_);
    const auto found = entries_.find(channel);
    if (found != entries_.end()) ++found->second.messages;
  }
  tell(channel, busy);
}

void Listeners::tell(const std::string& channel, Busy busy) {
  std::vector<Listener> listeners;
  {
    const base::Guard guard(mutex_);
    const auto found = entries_.find(channel);
    if (found == entries_.end()) return;
    for (const auto& [id, listener] : found->second.listeners) listeners.push_back(listener);
  }
  for (const Listener& listener : listeners) listener(busy);
}

bool Listeners::idle(const std::string& channel, base::TimePoint since) const {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(channel);
  return found == entries_.end() || (found->second.listeners.empty() && found->second.last_used <= since);
}

namespace {

constexpr unsigned bit(Channels kind) { return static_cast<unsigned>(kind); }

}  // namespace

unsigned Subscriptions::wanted(Publish how) const {
  switch (resolved(how)) {
    case Publish::spublish:
      return bit(Channels::sharded);
    case Publish::both:
      return bit(Channels::plain) | bit(Channels::sharded);
    case Publish::automatic:
    case Publish::publish:
      break;
  }
  return bit(Channels::plain);
}

bool Subscriptions::subscribed(const std::string& channel, Publish how) const {
  const unsigned kinds = wanted(how);
  const base::Guard guard(mutex_);
  const auto found = subscribed_.find(channel);
  return found != subscribed_.end() && (found->second.kinds & kinds) == kinds;
}

bool Subscriptions::all_subscribed(const std::vector<std::string>& channels, Publish how) const {
  return std::ranges::all_of(channels, [&](const std::string& channel) { return subscribed(channel, how); });
}

void Subscriptions::expect_own(const std::string& channel) {
  if (apart_.load()) return;
  int expected = 0;
  {
    const base::Guard guard(mutex_);
    const auto found = subscribed_.find(channel);
    if (found == subscribed_.end()) return;
    expected = std::popcount(found->second.kinds);
    found->second.own += expected;
  }
  while (expected-- > 0) listeners_->tell(channel);
}

void Subscriptions::on_subscribed(const std::string& channel, Channels kind) {
  const base::Guard guard(mutex_);
  if (const auto found = subscribed_.find(channel); found != subscribed_.end()) {
    found->second.kinds |= bit(kind);
    return;
  }
  listeners_->begin_subscription(channel);
  try {
    subscribed_.emplace(channel, Subscribed{bit(kind)});
  } catch (...) {
    listeners_->end_subscription(channel);
    throw;
  }
}

void Subscriptions::on_unsubscribed(const std::string& channel) {
  const base::Guard guard(mutex_);
  if (subscribed_.erase(channel) > 0) listeners_->end_subscription(channel);
}

bool Subscriptions::on_taken_away(const std::string& channel) {
  {
    const base::Guard guard(mutex_);
    const auto found = subscribed_.find(channel);
    if (found == subscribed_.end() || (found->second.kinds & bit(Channels::sharded)) == 0) return false;
    found->second = {found->second.kinds & ~bit(Channels::sharded)};
    if (found->second.kinds == 0) {
      subscribed_.erase(found);
      listeners_->end_subscription(channel);
    }
  }
  listeners_->on_message(channel);
  return true;
}

void Subscriptions::on_message(const std::string& channel, Busy busy) {
  if (!busy) {
    const base::Guard guard(mutex_);
    const auto found = subscribed_.find(channel);
    if (found != subscribed_.end() && found->second.own > 0) {
      --found->second.own;
      return;
    }
  }
  listeners_->on_message(channel, busy);
}

void Subscriptions::on_disconnected() {
  const base::Guard guard(mutex_);
  for (const auto& [channel, subscribed] : subscribed_) listeners_->end_subscription(channel);
  subscribed_.clear();
}

/// The mutex is locked throughout: a caller that begins to use a channel after this has found it idle will find that it
/// is not subscribed.
Subscriptions::Idle Subscriptions::take_idle(base::TimePoint idle_since) {
  Idle idle;
  const base::Guard guard(mutex_);
  for (auto it = subscribed_.begin(); it != subscribed_.end();) {
    if (!listeners_->idle(it->first, idle_since)) {
      ++it;
      continue;
    }
    if ((it->second.kinds & bit(Channels::plain)) != 0) idle.plain.push_back(it->first);
    if ((it->second.kinds & bit(Channels::sharded)) != 0) idle.sharded.push_back(it->first);
    listeners_->end_subscription(it->first);
    it = subscribed_.erase(it);
  }
  return idle;
}

bool Subscriptions::any_subscribed() const {
  const base::Guard guard(mutex_);
  return !subscribed_.empty();
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
