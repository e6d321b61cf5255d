// Which channels are subscribed on the current connection, who listens, and who still needs them. Knows no sockets.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "redis/failures/errors.hpp"

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

  /// How many messages have come on it while it has been in use or subscribed, but for expected ones.
  std::uint64_t messages(const std::string& channel) const;
  /// The next message is of a release of our own, which nobody is waiting to hear. Forgotten with the connection.
  void expect_own(const std::string& channel);

  /// True if the server has confirmed the subscription on the current connection.
  bool subscribed(const std::string& channel) const;
  bool all_subscribed(const std::vector<std::string>& channels) const;

  /// What a PUBLISH on this server says counts all who listen. In a cluster it counts those of its own node.
  bool counts_all() const { return counts_all_.load(); }

  // For the lane.
  void on_login(bool clustered) { counts_all_.store(!clustered); }
  void on_subscribed(const std::string& channel);
  void on_unsubscribed(const std::string& channel);
  /// Runs the channel's listeners.
  void on_message(const std::string& channel);
  void on_disconnected();
  /// Subscribed channels that nobody has used since `idle_since`; they count as unsubscribed from now on.
  std::vector<std::string> take_idle(base::TimePoint idle_since);
  bool any_subscribed() const;

  /// A subscription that is refused for good is remembered for a short while, so that not every waiter has to run into
  /// it: for these channels together, as they were asked for; without any, for whatever is asked for. What is over is
  /// forgotten with a later one, so no more are kept than come within twice that time.
  using Why = std::shared_ptr<const Refusal>;
  void deny(const std::vector<std::string>& channels, Why why, base::TimePoint now);
  /// The refusal that still counts; null if there is none.
  Why denied(const std::vector<std::string>& channels, base::TimePoint now) const;
  static constexpr std::chrono::seconds kDenialLasts{5};

 private:
  struct Entry {
    bool forgotten() const { return listeners.empty() && !subscribed; }
    void end_subscription() {
      subscribed = false;
      own = 0;
    }
    std::map<std::uint64_t, Listener> listeners;
    bool subscribed = false;
    std::uint64_t messages = 0;
    int own = 0;  // messages that are expected next
    base::TimePoint last_used{};
  };
  struct Denial {
    Why why;
    base::TimePoint until{};
  };

  mutable base::Mutex mutex_;
  std::map<std::string, Entry> entries_ HOLDFAST_GUARDED_BY(mutex_);
  std::map<std::vector<std::string>, Denial> denials_ HOLDFAST_GUARDED_BY(mutex_);
  base::TimePoint next_sweep_ HOLDFAST_GUARDED_BY(mutex_){};  // of the denials
  std::uint64_t last_use_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> counts_all_{true};
};

}  // namespace holdfast::redis
