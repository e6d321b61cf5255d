// Which channels are subscribed on one connection, and which cannot be. Knows no sockets.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "redis/connection/listeners.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::redis {

/// One for each lane, which tells it what the server confirmed; messages go on to the client's listeners. Thread-safe.
class Subscriptions {
 public:
  explicit Subscriptions(std::shared_ptr<Listeners> listeners) : listeners_(std::move(listeners)) {}
  ~Subscriptions() { on_disconnected(); }
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  const std::shared_ptr<Listeners>& listeners() const { return listeners_; }

  /// True if the server has confirmed the subscription on the current connection.
  bool subscribed(const std::string& channel) const;
  bool all_subscribed(const std::vector<std::string>& channels) const;

  /// The next message is of a release of our own, which nobody is waiting to hear. Forgotten with the subscription.
  void expect_own(const std::string& channel);

  /// What a PUBLISH on this server says counts all who listen. In a cluster it counts those of its own node.
  bool counts_all() const { return counts_all_.load(); }

  // For the lane.
  void on_login(bool clustered) { counts_all_.store(!clustered); }
  void on_subscribed(const std::string& channel);
  void on_unsubscribed(const std::string& channel);
  /// Runs the channel's listeners, unless the message is one of our own that was expected.
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
  struct Denial {
    Why why;
    base::TimePoint until{};
  };

  const std::shared_ptr<Listeners> listeners_;  // whose mutex is locked under this one's
  mutable base::Mutex mutex_;
  /// By the subscribed channels: how many of the messages that come next are our own.
  std::map<std::string, int> own_ HOLDFAST_GUARDED_BY(mutex_);
  std::map<std::vector<std::string>, Denial> denials_ HOLDFAST_GUARDED_BY(mutex_);
  base::TimePoint next_sweep_ HOLDFAST_GUARDED_BY(mutex_){};  // of the denials
  std::atomic<bool> counts_all_{true};
};

}  // namespace holdfast::redis
