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
#include "engine/loop.hpp"
#include "engine/notifier.hpp"
#include "engine/pending.hpp"
#include "engine/reporter.hpp"
#include "engine/sites.hpp"
#include "engine/watchdog.hpp"
#include "redis/channels.hpp"
#include "redis/lane.hpp"

namespace holdfast::engine {

/// Thread-safe. Lives as long as a Client, Lock or Hold refers to it; its threads end with close().
class Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(Config config);
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

  /// Forked or closed: why the client cannot be used. Empty if it can.
  std::error_code unusable() const noexcept;
  /// Throws Error if the client cannot be used.
  void require_usable(const std::string& name) const;
  bool in_child() const noexcept { return fork_guard_.in_child(); }

  void close() noexcept;

  const Config& config() const { return config_; }
  const std::string& id() const { return id_; }
  const std::string& node() const { return node_; }
  Loop& loop() { return loop_; }
  boost::asio::io_context& context() { return loop_.context(); }
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
  void on_connected();
  std::vector<std::shared_ptr<Target>> targets();
  void end_holds();

  const base::ForkGuard fork_guard_;
  const Config config_;
  const std::string id_;
  const std::string node_;

  Pending pending_;  // before the context, whose handlers may hold tokens
  Loop loop_;
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

  std::atomic<bool> closed_{false};
  std::mutex close_mutex_;
};

}  // namespace holdfast::engine
