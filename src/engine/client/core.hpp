// The inside of a client: its connection, its watchdog, its sites, and the threads that drive them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <holdfast/config.hpp>
#include <holdfast/options.hpp>

#include "base/fork_guard.hpp"
#include "base/guarded.hpp"
#include "engine/hold/holder_query.hpp"
#include "engine/hold/rounds.hpp"
#include "engine/hold/sites.hpp"
#include "engine/hold/watchdog.hpp"
#include "engine/loop/guest_loop.hpp"
#include "engine/loop/notifier.hpp"
#include "engine/loop/own_loop.hpp"
#include "engine/runtime/pending.hpp"
#include "engine/runtime/reporter.hpp"
#include "redis/connection/channels.hpp"
#include "redis/connection/lane.hpp"
#include "timing/timer.hpp"

namespace holdfast::engine {

/// Thread-safe. Lives as long as a Client, Lock or Hold refers to it; its threads end with close(). As a guest on the
/// caller's io_context it has no threads, and lives until it is closed and the last of its handlers has run.
class Core : public std::enable_shared_from_this<Core> {
 public:
  /// With a host: a guest there.
  static std::shared_ptr<Core> make(Config config, boost::asio::io_context* host);
  Core(Config config, boost::asio::io_context* host);  // for make()
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Sites& sites() { return *sites_; }
  /// A target of several clients. Each of them wakes it when it is connected anew; it ends with the one that serves it.
  enum class Bond { serves, wakes };
  void adopt(const std::shared_ptr<Target>& target, Bond bond);

  /// Asks which server this is, now and on each new connection. For groups, whose members must be of different ones.
  void identify_server();
  /// The same for two clients of the same server; 0: not known, since it was not asked, is not connected or does not
  /// tell.
  std::uint64_t server() const { return server_.load(std::memory_order_relaxed); }

  /// An owner that was never used before.
  wire::Owner make_owner() const;
  wire::Owner owner(std::uint64_t number) const { return {id_ + ":" + std::to_string(number)}; }
  /// All lengths decided; throws Error(invalid_argument) if one is out of range.
  LeaseTerms lease_terms(const AcquireOptions& options, const std::string& name) const;

  enum class Errors { raise, keep };
  /// Sends commands and waits for the replies. Throws Error if they do not come, or (unless kept) if one is an error.
  std::vector<base::Reply> ask(std::vector<base::Command> commands, const std::string& name,
                               Errors errors = Errors::raise);
  /// The replies, or an Error that says why there are none.
  std::vector<base::Reply> replies(redis::Result result, const std::string& name, Errors errors) const;

  /// Forked or closed: why the client cannot be used. Empty if it can.
  std::error_code unusable() const noexcept;
  /// Throws Error if the caller cannot wait for anything: on a guest's loop nobody can.
  void require_waiting(const std::string& name) const;
  /// Throws Error if the client cannot be used.
  void require_usable(const std::string& name) const;
  bool in_child() const noexcept { return fork_guard_.in_child(); }

  /// Gives holds back as configured, ends waits, closes the connection. `done` is called once, on the loop or, if that
  /// is all over, at once. From any thread.
  void start_close(std::function<void()> done);
  /// The same, and waits for it. A guest only starts it.
  void close() noexcept;
  /// A guest whose host is being destroyed: nothing will run any more, so all that waits is dropped untold.
  void drop_all() noexcept;

  const Config& config() const { return config_; }
  const std::string& id() const { return id_; }
  const std::string& node() const { return node_; }
  Loop& loop() { return *loop_; }
  /// Null: a guest. Only on its own loop somebody can wait.
  OwnLoop* own_loop() { return own_loop_; }
  /// The caller's io_context; null: not a guest.
  boost::asio::io_context* host() const { return host_; }
  /// What a guest's handlers hold; null if this outlives all handlers.
  std::shared_ptr<void> keep_alive() { return host_ != nullptr ? shared_from_this() : nullptr; }
  /// Timers of releases that pause before the next send; cut short by close(). Only on the loop.
  std::set<timing::Timer*>& pauses() { return pauses_; }
  /// Rounds of the groups that this client serves.
  Rounds& rounds() { return rounds_; }
  /// Sends a request on this core's loop; from any thread, the handler on the loop. If the client is over, or its loop
  /// has taken nothing for long (a guest's context that nobody runs), the handler says so in the calling thread.
  void send(redis::Request request, redis::Lane::Handler handler, std::size_t most_waiting = kMostWaiting);
  /// So many requests wait for a loop that takes none; twice as many releases, lest what is asked for is not given
  /// back.
  static constexpr std::size_t kMostWaiting = 1000;
  /// Runs a function on the loop, at once if the caller is there; not at all if the client is over.
  template <class Function>
  void hand_over(Function function) {
    if (loop_->inside()) return function();
    const base::Guard guard(over_mutex_);
    if (!over_) loop_->defer(std::move(function));
  }
  Watchdog& watchdog() { return watchdog_; }
  Reporter& reporter() { return reporter_; }
  /// For observer calls and loss callbacks.
  Notifier& notifier() { return notifier_; }
  /// For stop tokens, so that an observer that dawdles does not hold up a loss signal.
  Notifier& signals() { return signals_; }
  Pending& pending() { return pending_; }
  /// Those releases among the pending work that nobody waits for.
  Pending& undos() { return undos_; }
  KnownConnections& known_connections() { return known_connections_; }

 private:
  friend class Closing;

  std::unique_ptr<Loop> make_loop();
  Notifier::Elsewhere elsewhere() const;
  void start();
  void on_connected();
  void ask_which_server();
  /// What ends with this client; with `all`, also what is only woken by it.
  enum class Which { own, all };
  std::vector<std::shared_ptr<Target>> targets(Which which);
  void end_holds();
  void stop_taking();
  void on_closed();

  const base::ForkGuard fork_guard_;
  const Config config_;
  const std::string id_;
  const std::string node_;

  Pending pending_;  // before the loop, whose handlers may hold tokens
  Pending undos_;
  boost::asio::io_context* const host_;
  OwnLoop* own_loop_ = nullptr;
  const std::unique_ptr<Loop> loop_;
  Notifier notifier_;
  Notifier signals_;
  Reporter reporter_;
  const std::shared_ptr<redis::Channels> channels_;
  const std::shared_ptr<Sites> sites_;
  redis::Lane lane_;
  Watchdog watchdog_;
  Rounds rounds_;

  std::set<timing::Timer*> pauses_;            // on the loop
  KnownConnections known_connections_{*this};  // on the loop
  std::atomic<bool> identifies_server_{false};
  std::atomic<std::uint64_t> server_{0};

  base::Mutex mutex_;
  struct Adopted {
    std::weak_ptr<Target> target;
    Bond bond;
  };
  std::vector<Adopted> adopted_ HOLDFAST_GUARDED_BY(mutex_);

  // What comes from other clients' loops.
  base::Mutex over_mutex_;
  bool over_ HOLDFAST_GUARDED_BY(over_mutex_) = false;        // the loop takes nothing any more
  std::size_t waiting_ HOLDFAST_GUARDED_BY(over_mutex_) = 0;  // requests that the loop has not taken yet

  std::atomic<bool> closed_{false};  // or about to be
  bool all_over_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> when_closed_ HOLDFAST_GUARDED_BY(mutex_);
  base::Mutex close_mutex_;
};

}  // namespace holdfast::engine
