// The inside of a client: its connection, its watchdog, its sites, and the threads that drive them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>

#include <holdfast/config.hpp>
#include <holdfast/lock.hpp>

#include "base/fork_guard.hpp"
#include "engine/guest_loop.hpp"
#include "engine/notifier.hpp"
#include "engine/own_loop.hpp"
#include "engine/pending.hpp"
#include "engine/reporter.hpp"
#include "engine/sites.hpp"
#include "engine/watchdog.hpp"
#include "redis/channels.hpp"
#include "redis/lane.hpp"

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
  /// A target of several clients: it is woken by this client's reconnects and ends with this client.
  void adopt(const std::shared_ptr<Target>& target);

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
  using Timer = boost::asio::basic_waitable_timer<base::Clock>;
  /// Timers of releases that pause before the next send; cut short by close(). Only on the loop.
  std::set<Timer*>& pauses() { return pauses_; }
  /// Sends a request on this core's loop; from any thread, the handler on the loop.
  void send(redis::Request request, redis::Lane::Handler handler);
  Watchdog& watchdog() { return watchdog_; }
  Reporter& reporter() { return reporter_; }
  /// For observer calls and loss callbacks.
  Notifier& notifier() { return notifier_; }
  /// For stop tokens, so that an observer that dawdles does not hold up a loss signal.
  Notifier& signals() { return signals_; }
  Pending& pending() { return pending_; }

 private:
  friend class Closing;

  std::unique_ptr<Loop> make_loop();
  Notifier::Elsewhere elsewhere() const;
  void start();
  void on_connected();
  std::vector<std::shared_ptr<Target>> targets();
  void end_holds();
  void on_closed();

  const base::ForkGuard fork_guard_;
  const Config config_;
  const std::string id_;
  const std::string node_;

  Pending pending_;  // before the loop, whose handlers may hold tokens
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

  std::set<Timer*> pauses_;  // on the loop

  std::mutex mutex_;
  std::vector<std::weak_ptr<Target>> adopted_;  // guarded by mutex_

  std::atomic<bool> closed_{false};                 // or about to be
  bool all_over_ = false;                           // guarded by mutex_
  std::vector<std::function<void()>> when_closed_;  // guarded by mutex_
  std::mutex close_mutex_;
};

}  // namespace holdfast::engine
