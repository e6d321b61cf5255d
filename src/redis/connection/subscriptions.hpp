// SPDX-License-Identifier: Apache-2.0
// Which channels are subscribed on one connection, and which were refused. Knows no sockets.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::redis {

/// What a message says that a waiter publishes of a busy lock: for so long, a negative number of ms (wire.md section
/// 2). Empty: it is of a release, or of permits.
using Busy = std::optional<std::chrono::milliseconds>;
Busy busy_for(std::string_view message);

/// Which waiters of a client listen to which channel, independent of connections. Knows no sockets. One per client,
/// shared by the `Subscriptions` of all its connections. A waiter has a listener on its channel for as long as it
/// waits, so that unused subscriptions can be ended after a while. Thread-safe.
class Listeners {
 public:
  /// Called for every message, under no mutex; must not block.
  using Listener = std::function<void(Busy)>;

  /// From now on the channel is in use and its messages go to the listener. Returns what end_use takes.
  std::uint64_t begin_use(const std::string& channel, Listener listener);
  /// A message under way may still reach the listener once after this.
  void end_use(const std::string& channel, std::uint64_t use, base::TimePoint now);

  /// No channel is subscribed or in use.
  bool none() const;
  /// How many listeners it has.
  std::size_t users(const std::string& channel) const;
  /// How many messages have arrived on it while it was in use or subscribed, without those that `Subscriptions` has
  /// suppressed, and those of a busy lock.
  std::uint64_t messages(const std::string& channel) const;

  // For the subscriptions.
  /// One more connection, or one less, is subscribed to the channel; its entry stays as long as one is.
  void begin_subscription(const std::string& channel);
  void end_subscription(const std::string& channel);
  /// Counts it, and runs the channel's listeners.
  void on_message(const std::string& channel, Busy busy = {});
  /// Only runs them.
  void tell(const std::string& channel, Busy busy = {});
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

/// The server's two sets of channels: PUBLISH reaches those of SUBSCRIBE, SPUBLISH those of SSUBSCRIBE.
enum class Channels : std::uint8_t { plain = 1, sharded = 2 };

/// One per lane, which reports the server's confirmations; passes messages to the client's listeners. Thread-safe.
class Subscriptions {
 public:
  explicit Subscriptions(std::shared_ptr<Listeners> listeners) : listeners_(std::move(listeners)) {}
  ~Subscriptions() { on_disconnected(); }
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  const std::shared_ptr<Listeners>& listeners() const { return listeners_; }

  /// How releases are published on this server, and so how channels are subscribed unless a request says otherwise. The
  /// default is PUBLISH; must be set before anything is subscribed.
  void set_publish(Publish publish) { publish_.store(publish); }
  /// `automatic`: as set_publish() says.
  Publish resolved(Publish how) const { return how == Publish::automatic ? publish_.load() : how; }

  /// True if the server has confirmed the subscription on the current connection: with `both`, to both kinds.
  bool subscribed(const std::string& channel, Publish how = Publish::automatic) const;
  bool all_subscribed(const std::vector<std::string>& channels, Publish how = Publish::automatic) const;

  /// These were confirmed as subscribed: true if none was taken away since.
  bool stay_subscribed(const std::vector<std::string>& channels, Publish how) const {
    return (resolved(how) == Publish::publish && !apart_.load()) || all_subscribed(channels, how);
  }

  /// The next message is that of our own release; with `both`, the next two. The channel's listeners run now, as if it
  /// had come before the reply, and not when it comes. Forgotten with the subscription. Nothing if messages and replies
  /// come in no order: it could be another's.
  void expect_own(const std::string& channel);

  /// True if the server's reply to a publish counts all listeners. In a cluster PUBLISH counts only those on its own
  /// node, while SPUBLISH only misses replicas, where no client of ours listens.
  bool counts_all(Publish how = Publish::automatic) const {
    return !clustered_.load() || resolved(how) == Publish::spublish;
  }

  // For the lane.
  /// `apart`: messages and replies come on two connections, and so in no order.
  void on_login(bool clustered, bool apart) {
    clustered_.store(clustered);
    apart_.store(apart);
  }
  void on_subscribed(const std::string& channel, Channels kind = Channels::plain);
  void on_unsubscribed(const std::string& channel);
  /// The server has ended the subscription to a sharded channel because it gave its slot away: the listeners run, as
  /// for a message. False: the channel was no longer subscribed, or we unsubscribed.
  bool on_taken_away(const std::string& channel);
  /// Runs the channel's listeners, unless it is one that was expected.
  void on_message(const std::string& channel, Busy busy = {});
  void on_disconnected();
  struct Idle {
    std::vector<std::string> plain;
    std::vector<std::string> sharded;
  };
  /// Subscribed channels not used since `idle_since`; from now on they count as unsubscribed.
  Idle take_idle(base::TimePoint idle_since);
  bool any_subscribed() const;

  /// A permanent refusal is remembered for a short while, so that not every waiter has to get its own: for exactly this
  /// list of channels; if it is empty, for all channels. Expired ones are removed by later calls, so only those of the
  /// last two periods are kept.
  using Why = std::shared_ptr<const Refusal>;
  void deny(const std::vector<std::string>& channels, Why why, base::TimePoint now);
  /// The refusal that still applies; null: none.
  Why denied(const std::vector<std::string>& channels, base::TimePoint now) const;
  static constexpr std::chrono::seconds kDenialLasts{5};

 private:
  struct Denial {
    Why why;
    base::TimePoint until{};
  };

  struct Subscribed {
    unsigned kinds = 0;  // of Channels
    int own = 0;         // how many of the next messages are our own
  };
  /// The kinds, as bits.
  unsigned wanted(Publish how) const;

  const std::shared_ptr<Listeners> listeners_;  // its mutex is locked while this one's is held
  mutable base::Mutex mutex_;
  std::map<std::string, Subscribed> subscribed_ HOLDFAST_GUARDED_BY(mutex_);  // by channel
  std::map<std::vector<std::string>, Denial> denials_ HOLDFAST_GUARDED_BY(mutex_);
  base::TimePoint next_sweep_ HOLDFAST_GUARDED_BY(mutex_){};  // of the denials
  std::atomic<bool> clustered_{false};
  std::atomic<bool> apart_{false};
  std::atomic<Publish> publish_{Publish::publish};
};

}  // namespace holdfast::redis
