// Which channels are subscribed on one connection, and which cannot be. Knows no sockets.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "redis/connection/listeners.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::redis {

/// The two sets of channels that a server has: PUBLISH reaches those of SUBSCRIBE, SPUBLISH those of SSUBSCRIBE.
enum class Channels : std::uint8_t { plain = 1, sharded = 2 };

/// One for each lane, which tells it what the server confirmed; messages go on to the client's listeners. Thread-safe.
class Subscriptions {
 public:
  explicit Subscriptions(std::shared_ptr<Listeners> listeners) : listeners_(std::move(listeners)) {}
  ~Subscriptions() { on_disconnected(); }
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  const std::shared_ptr<Listeners>& listeners() const { return listeners_; }

  /// How releases are told on this server, and so how channels are subscribed unless a request says otherwise. PUBLISH
  /// until somebody says so, which must be before anything is subscribed.
  void set_publish(Publish publish) { publish_.store(publish); }
  /// `automatic`: as set_publish() says.
  Publish resolved(Publish how) const { return how == Publish::automatic ? publish_.load() : how; }

  /// True if the server has confirmed the subscription on the current connection: with `both`, to both kinds.
  bool subscribed(const std::string& channel, Publish how = Publish::automatic) const;
  bool all_subscribed(const std::vector<std::string>& channels, Publish how = Publish::automatic) const;

  /// These were subscribed when their confirmations came: whether none has been taken away since.
  bool stay_subscribed(const std::vector<std::string>& channels, Publish how) const {
    return resolved(how) == Publish::publish || all_subscribed(channels, how);
  }

  /// The next message is of a release of our own, which nobody is waiting to hear; with `both`, the next two. Forgotten
  /// with the subscription.
  void expect_own(const std::string& channel);

  /// What this server says of a release counts all who listen. In a cluster PUBLISH counts those of its own node, while
  /// SPUBLISH reaches nobody elsewhere but at replicas, where none of us is.
  bool counts_all(Publish how = Publish::automatic) const {
    return !clustered_.load() || resolved(how) == Publish::spublish;
  }

  // For the lane.
  void on_login(bool clustered) { clustered_.store(clustered); }
  void on_subscribed(const std::string& channel, Channels kind = Channels::plain);
  void on_unsubscribed(const std::string& channel);
  /// The server has ended the subscription to a sharded channel, whose slot it has given away: whoever listens asks
  /// again, as if a message had come. False: it was not subscribed any more, or this was asked for.
  bool on_taken_away(const std::string& channel);
  /// Runs the channel's listeners, unless the message is one of our own that was expected.
  void on_message(const std::string& channel);
  void on_disconnected();
  struct Idle {
    std::vector<std::string> plain;
    std::vector<std::string> sharded;
  };
  /// Subscribed channels that nobody has used since `idle_since`; they count as unsubscribed from now on.
  Idle take_idle(base::TimePoint idle_since);
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

  struct Subscribed {
    unsigned kinds = 0;  // of Channels
    int own = 0;         // so many of the messages that come next are our own
  };
  /// Kinds, as bits.
  unsigned wanted(Publish how) const;

  const std::shared_ptr<Listeners> listeners_;  // whose mutex is locked under this one's
  mutable base::Mutex mutex_;
  std::map<std::string, Subscribed> subscribed_ HOLDFAST_GUARDED_BY(mutex_);  // by channel
  std::map<std::vector<std::string>, Denial> denials_ HOLDFAST_GUARDED_BY(mutex_);
  base::TimePoint next_sweep_ HOLDFAST_GUARDED_BY(mutex_){};  // of the denials
  std::atomic<bool> clustered_{false};
  std::atomic<Publish> publish_{Publish::publish};
};

}  // namespace holdfast::redis
