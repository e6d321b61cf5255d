// SPDX-License-Identifier: Apache-2.0
// What a client runs on: settings, loop, connection, callbacks' threads, counters, and pending work.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/options.hpp>

#include "base/clock.hpp"
#include "base/fork_guard.hpp"
#include "base/guarded.hpp"
#include "base/resp.hpp"
#include "kinds/connection_name.hpp"
#include "kinds/owner.hpp"
#include "lock/decide/lease.hpp"
#include "lock/runtime/pending.hpp"
#include "lock/runtime/reporter.hpp"
#include "loop/loop.hpp"
#include "loop/notifier.hpp"
#include "redis/connection/lane.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/decide/slot.hpp"
#include "redis/topology/router.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::engine {

/// A handler for this request, which publishes a release on the channels that it `tells`. If it went after an ASKING,
/// the message was sent at the slot's next server, and subscribers at the present one have not received it: so it is
/// published there too, without waiting. A client that gets it twice asks once more than needed.
inline redis::Lane::Handler telling_again(redis::Router& router, const redis::Request& request,
                                          redis::Lane::Handler handler) {
  redis::Request again;
  again.timeout = request.timeout;
  for (const std::string& channel : request.tells) again.commands.push_back({{"SPUBLISH", channel, "0"}});
  return [&router, again = std::move(again), handler = std::move(handler)](redis::Result result) mutable {
    if (result.asked && result.delivery != redis::Delivery::not_sent) {
      router.send(std::move(again), [](const redis::Result&) {});
    }
    handler(std::move(result));
  };
}

/// Which servers a client is connected to, for monitoring. Thread-safe.
class Links {
 public:
  /// Sets the shard's current server, as text. Keeps the old one if memory runs out.
  void set(const redis::Shard* shard, std::string node, bool connected) noexcept;
  /// The shard's server is no longer used.
  void drop(const redis::Shard* shard) noexcept;

  /// Each server to which there was a connection or an attempt.
  std::vector<std::pair<std::string, bool>> all() const;

 private:
  mutable base::Mutex mutex_;
  std::map<const redis::Shard*, std::pair<std::string, bool>> links_ HOLDFAST_GUARDED_BY(mutex_);
};

/// The connections to a server, for the texts of errors. The connections of one server, if it has few, listed once for
/// all queries within a second. Its cluster may have other servers. On the loop.
class KnownConnections {
 public:
  using List = std::shared_ptr<const wire::Connections>;
  /// `fresh`: the server was asked after the call. Null: not reported, or too many.
  using Done = std::function<void(const List&, bool fresh)>;

  KnownConnections(redis::Shard& shard, base::Duration command_timeout)
      : shard_(shard), command_timeout_(command_timeout) {}
  void ask(Done done);

 private:
  void ask_server(base::Command command, redis::Lane::Handler handler);
  void ask_list();
  void tell(List connections);

  redis::Shard& shard_;
  const base::Duration command_timeout_;
  std::vector<Done> waiting_;  // while the server is being asked
  List connections_;
  base::TimePoint known_at_{};
};

/// From any thread, unless stated otherwise. See redis::Router::server().
class Identity {
 public:
  Identity(redis::Router& router, base::Duration timeout) : router_(router), timeout_(timeout) {}

  /// From now on the server is asked at each new connection. True: it is not known yet, so ask() now.
  bool want();
  /// Unless it is known, or has been asked. `client` is kept until there is an answer. On the loop.
  void ask(std::shared_ptr<void> client);
  /// On the loop, before waiting requests are sent.
  void on_connected(redis::Shard& shard, std::shared_ptr<void> client);
  /// Whether a group must wait until it is known: only once, or a server that is down would delay every group again.
  bool to_be_waited_for() const;
  void waited_for() { waited_for_.store(true); }

 private:
  void send(redis::Shard& shard, std::shared_ptr<void> client);

  redis::Router& router_;
  const base::Duration timeout_;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> waited_for_{false};
  int under_way_ = 0;  // on the loop
};

class OwnLoop;

/// How far a client is on its way to its end.
enum class Life {
  open,
  closing,  ///< Nothing new may start.
  over,     ///< Its loop accepts nothing more.
};

/// Thread-safe unless stated otherwise. Knows nothing about locks and holds. A shared pointer to it keeps the whole
/// client alive.
class Runtime : private redis::ServerEvents {
 public:
  /// Finds the holds whose deadlines have passed; returns when to check next. On the signals' thread.
  using LookAtDeadlines = std::function<TimePoint()>;
  /// With a host: a guest on that io_context, without threads. `events`: for the rest of the client, of servers that
  /// serve locks; their messages and commands are counted here, and not passed on.
  Runtime(Config config, boost::asio::io_context* host, redis::ServerEvents& events,
          LookAtDeadlines look_at_deadlines = {});

  /// Starts the threads, and connects. A guest's handlers keep `client` alive. Throws Error(exhausted).
  void start(std::weak_ptr<void> client);
  /// It is over: accepts nothing more. What was handed to it before is answered, as the loop runs out of work.
  void stop_taking();
  /// Afterwards: closes the connection, and rings the alarms of pauses and queries at once. On the loop.
  void stop_work();
  /// Ends the client's own threads, after the loop's remaining work, for kRunOut at most. Not on the loop.
  void stop_threads();
  static constexpr std::chrono::seconds kRunOut{2};
  /// Ends the client's own loop at once, and the thread that checks the deadlines.
  void halt();
  /// For a guest whose host is being destroyed: the client becomes unusable and accepts nothing more.
  void refuse_work() noexcept;
  /// After that: nothing will run any more, so all pending work is dropped without a call.
  void drop_all() noexcept;

  const Config& config() const { return config_; }
  /// The client's id on the wire: the part of its owners before the colon.
  const std::string& id() const { return id_; }
  /// The server as text.
  const std::string& node() const { return node_; }
  /// True if a server may get a successor, which may lack writes that it has confirmed.
  bool has_successors() const;
  bool in_child() const noexcept { return fork_guard_.in_child(); }

  /// Forked or closed: why the client cannot be used. Empty if it can.
  std::error_code unusable() const noexcept;
  /// Throws Error if the client cannot be used.
  void require_usable(const std::string& name) const;
  /// Throws Error if the caller must not block: on a guest's loop nobody may.
  void require_waiting(const std::string& name) const;
  bool closed() const noexcept { return life_.load() != Life::open; }
  /// From here on the client is unusable. True for the first call.
  bool begin_close() {
    Life open = Life::open;
    return life_.compare_exchange_strong(open, Life::closing);
  }
  bool over() const noexcept { return life_.load() == Life::over; }

  /// For work that closing waits for.
  struct Admission {
    Pending::Token token;     // closing waits for it
    std::error_code refused;  // set: the client is unusable, and nothing may start
  };
  /// Either closing waits for the work, or this sees that closing has begun.
  Admission admit();
  Pending& pending() { return pending_; }
  /// The releases among the pending work that no caller waits for.
  Pending& undos() { return undos_; }

  /// An owner that was never used before.
  wire::Owner make_owner() const;
  wire::Owner owner(std::uint64_t number) const { return {id_ + ":" + std::to_string(number)}; }

  Loop& loop() { return *loop_; }
  /// Null: a guest. Blocking is only possible with an own loop.
  OwnLoop* own_loop() { return own_loop_; }
  /// The caller's io_context; null: not a guest.
  boost::asio::io_context* host() const { return host_; }
  /// What a guest's handlers hold; null if the client outlives all handlers.
  std::shared_ptr<void> keep_alive() const { return host_ != nullptr ? client_.lock() : nullptr; }
  /// For calls from other clients' loops: null once this client is gone.
  std::weak_ptr<void> client() const { return client_; }

  /// Sends a request on this client's loop; from any thread, the handler runs on the loop. If the client is closed, or
  /// its loop is stalled (a guest's context that does not run), the handler gets an error in the calling thread. If the
  /// request went after an ASKING, a release on the channels that it `tells` is also published at the slot's present
  /// server.
  void send(redis::Request request, redis::Lane::Handler handler, std::size_t most_waiting = kMostWaiting);
  /// Whether what kept a request from its answer may pass (Error::may_pass). A login that is refused counts as passing
  /// once this client has been logged in: its settings were right. From any thread.
  bool may_pass(const redis::Result& unanswered) const;
  /// Queue limit while the loop is stalled; releases get twice that, so that locks are not stranded.
  static constexpr std::size_t kMostWaiting = 1000;
  /// Runs a function on the loop, at once if the caller is on it; not at all if the client is closed.
  template <class Function>
  void hand_over(Function function) {
    if (loop_->inside()) return function();
    const base::Guard guard(over_mutex_);
    if (!over()) loop_->defer(std::move(function));
  }

  /// Knows which server serves which key. From any thread where it says so.
  redis::Router& router() { return *router_; }
  const std::shared_ptr<redis::Listeners>& listeners() const { return listeners_; }
  /// Asks the server who it is, unless known, and then at each new connection. Commands sent later are answered later.
  void identify();
  Identity& identity() { return identity_; }

  Reporter& reporter() { return reporter_; }
  const Links& links() const { return links_; }
  /// For observer calls and loss callbacks.
  Notifier& notifier() { return notifier_; }
  /// For stop tokens, so that a slow observer does not delay a loss signal.
  Notifier& signals() { return signals_; }

  /// On the loop.
  KnownConnections& known_connections(redis::Shard& shard);

 private:
  std::unique_ptr<Loop> make_loop();
  std::unique_ptr<redis::Router> make_router();
  void connected(redis::Shard& shard) override;
  void disconnected(redis::Shard& shard, const std::string& cause) override;
  void message(redis::Shard&) override { reporter_.add(&Counters::wakes); }
  void command(redis::Shard&) override { reporter_.add(&Counters::commands); }
  void to_be_flushed(redis::Shard&, std::size_t bytes) override { loop_->to_be_settled(bytes); }
  void answered(redis::Shard& shard, redis::Operation operation, Duration took) override;
  void side_connected(redis::Shard& shard, redis::Side side) override { events_.side_connected(shard, side); }
  void side_disconnected(redis::Shard& shard, redis::Side side) override { events_.side_disconnected(shard, side); }
  void invalidated(redis::Shard& shard, const base::Reply& keys) override { events_.invalidated(shard, keys); }
  void moved(const redis::cluster::SlotSet& slots) override { events_.moved(slots); }

  const base::ForkGuard fork_guard_;
  const Config config_;
  const std::string id_;
  const std::string node_;
  redis::ServerEvents& events_;
  const LookAtDeadlines look_at_deadlines_;
  std::weak_ptr<void> client_;          // set by start()
  std::atomic<Life> life_{Life::open};  // over with over_mutex_ only

  Pending pending_;  // before the loop, whose handlers may hold tokens
  Pending undos_;
  boost::asio::io_context* const host_;
  OwnLoop* own_loop_ = nullptr;
  const std::unique_ptr<Loop> loop_;
  Notifier notifier_;
  Notifier signals_;
  Reporter reporter_;
  Links links_;
  const std::shared_ptr<redis::Listeners> listeners_;
  const std::unique_ptr<redis::Router> router_;
  std::map<redis::Shard*, KnownConnections> known_connections_;
  Identity identity_{*router_, config_.timing.command_timeout};

  // For requests from other clients' loops.
  base::Mutex over_mutex_;
  std::size_t waiting_ HOLDFAST_GUARDED_BY(over_mutex_) = 0;  // posted requests that the loop has not run yet
};

}  // namespace holdfast::engine
