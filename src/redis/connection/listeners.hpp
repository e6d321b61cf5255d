// Which waiters of a client listen to which channel, independent of connections. Knows no sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "base/guarded.hpp"

namespace holdfast::redis {

/// One per client, shared by the `Subscriptions` of all its connections. A waiter has a listener on its channel for as
/// long as it waits, so that unused subscriptions can be ended after a while. Thread-safe.
class Listeners {
 public:
  /// Called for every message, under no mutex; must not block.
  using Listener = std::function<void()>;

  /// From now on the channel is in use and its messages go to the listener. Returns what end_use takes.
  std::uint64_t begin_use(const std::string& channel, Listener listener);
  /// A message under way may still reach the listener once after this.
  void end_use(const std::string& channel, std::uint64_t use, base::TimePoint now);

  /// No channel is subscribed or in use.
  bool none() const;
  /// How many listeners it has.
  std::size_t users(const std::string& channel) const;
  /// How many messages have arrived on it while it was in use or subscribed, without those that `Subscriptions` has
  /// suppressed.
  std::uint64_t messages(const std::string& channel) const;

  // For the subscriptions.
  /// One more connection, or one less, is subscribed to the channel; its entry stays as long as one is.
  void begin_subscription(const std::string& channel);
  void end_subscription(const std::string& channel);
  /// Runs the channel's listeners.
  void on_message(const std::string& channel);
  /// It has not been used since then.
  bool idle(const std::string& channel, base::TimePoint since) const;

 private:
  struct Entry {
    bool forgotten() const { return listeners.empty() && subscriptions == 0; }
    std::map<std::uint64_t, Listener> listeners;
    int subscriptions = 0;  // how many connections are subscribed to it
    std::uint64_t messages = 0;
    base::TimePoint last_used{};
  };

  mutable base::Mutex mutex_;
  std::map<std::string, Entry> entries_ HOLDFAST_GUARDED_BY(mutex_);
  std::uint64_t last_use_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace holdfast::redis
