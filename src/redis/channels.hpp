// Which channels are subscribed on the current connection, who listens, and who still needs them. Knows no sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace holdfast::redis {

/// Thread-safe. The lane tells it what the server confirmed; whoever waits on a channel has a listener there for as
/// long as the wait lasts, so that idle subscriptions can be given back after a linger.
class Channels {
 public:
  /// Called for every message, without any lock held; must not block.
  using Listener = std::function<void()>;

  /// From now on the channel is in use and its messages go to the listener. Returns what end_use takes.
  std::uint64_t begin_use(const std::string& channel, Listener listener);
  /// A message under way may still reach the listener once after this.
  void end_use(const std::string& channel, std::uint64_t use, base::TimePoint now);

  /// There is nothing to know of any channel: neither subscribed nor in use.
  bool none() const;
  /// How many use it.
  std::size_t users(const std::string& channel) const;

  /// True if the server has confirmed the subscription on the current connection.
  bool subscribed(const std::string& channel) const;
  bool all_subscribed(const std::vector<std::string>& channels) const;

  // For the lane.
  void on_subscribed(const std::string& channel);
  void on_unsubscribed(const std::string& channel);
  /// Runs the channel's listeners.
  void on_message(const std::string& channel);
  void on_disconnected();
  /// Subscribed channels that nobody has used since `idle_since`; they count as unsubscribed from now on.
  std::vector<std::string> take_idle(base::TimePoint idle_since, base::TimePoint now);
  bool any_subscribed() const;

  /// A refused subscription is remembered for a short while, so that not every waiter has to run into it.
  void deny(const std::string& channel, std::string cause, base::TimePoint until);
  /// The cause of a refusal that still counts; empty if there is none.
  std::string denied(const std::string& channel, base::TimePoint now) const;

 private:
  struct Entry {
    bool forgotten(base::TimePoint now) const { return listeners.empty() && !subscribed && now >= denied_until; }
    std::map<std::uint64_t, Listener> listeners;
    bool subscribed = false;
    base::TimePoint last_used{};
    std::string denied;
    base::TimePoint denied_until{};
  };

  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // guarded by mutex_
  std::uint64_t last_use_ = 0;            // guarded by mutex_
};

}  // namespace holdfast::redis
