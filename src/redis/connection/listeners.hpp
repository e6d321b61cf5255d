// Who of a client listens to which channel, whatever connection its messages come on. Knows no sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "base/guarded.hpp"

namespace holdfast::redis {

/// One for each client, shared by the `Subscriptions` of all its connections. Whoever waits on a channel has a listener
/// there for as long as the wait lasts, so that idle subscriptions can be given back after a linger. Thread-safe.
class Listeners {
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
  /// How many messages have come on it while it has been in use or subscribed, but for those that `Subscriptions` has
  /// kept to itself.
  std::uint64_t messages(const std::string& channel) const;

  // For the subscriptions.
  /// One more, or one less, connection is subscribed to the channel; what is known of it stays as long as one is.
  void begin_subscription(const std::string& channel);
  void end_subscription(const std::string& channel);
  /// Runs the channel's listeners.
  void on_message(const std::string& channel);
  /// Nobody has used it since then.
  bool idle(const std::string& channel, base::TimePoint since) const;

 private:
  struct Entry {
    bool forgotten() const { return listeners.empty() && subscriptions == 0; }
    std::map<std::uint64_t, Listener> listeners;
    int subscriptions = 0;  // connections that are subscribed to it
    std::uint64_t messages = 0;
    base::TimePoint last_used{};
  };

  mutable base::Mutex mutex_;
  std::map<std::string, Entry> entries_ HOLDFAST_GUARDED_BY(mutex_);
  std::uint64_t last_use_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace holdfast::redis
