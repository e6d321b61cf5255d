// SPDX-License-Identifier: Apache-2.0
// The internals of a client: its runtime, its targets, their watchdog, and how it starts and ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "lock/renew/late_releases.hpp"
#include "lock/renew/watchdog.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/targets.hpp"

namespace holdfast::engine {

/// Thread-safe. Lives as long as a Client, Lock or Hold refers to it; its threads end when it is closed (closing.hpp).
/// A guest, on the caller's io_context (make_guest), has no threads, and lives until it is closed and the last of its
/// handlers has run.
class Core : public std::enable_shared_from_this<Core>, private redis::ServerEvents {
 public:
  /// With a host: as a guest on that io_context.
  static std::shared_ptr<Core> make(Config config, boost::asio::io_context* host);
  Core(Config config, boost::asio::io_context* host);  // for make()
  ~Core() override;

  Runtime& runtime() { return runtime_; }
  /// The same, and keeps all of this alive.
  std::shared_ptr<Runtime> shared_runtime() { return {shared_from_this(), &runtime_}; }
  Watchdog& watchdog() { return watchdog_; }
  Targets& targets() { return *targets_; }
  /// From now on the servers' lanes `watch` are this watcher's, who is told what happens on them, and when a server is
  /// connected: for a client that has no holds to watch. On the loop.
  void watch_with(std::shared_ptr<redis::ServerEvents> watcher) { watcher_ = std::move(watcher); }

  /// True: closing begins here, and the caller carries it out. `done` is kept for the end of it, unless that is over.
  bool begin_close(std::function<void()>& done);
  /// The last step of closing: nothing waits any more, and the holds have ended. On the loop.
  void end();
  /// Ends the client's own threads, if it has any. Not on the loop.
  void stop_threads();
  /// For a guest whose host is being destroyed: nothing will run any more, so everything that waits is dropped without
  /// a call.
  void drop_all() noexcept;

 private:
  void connected(redis::Shard& shard) override;
  void disconnected(redis::Shard& shard, const std::string& cause) override;
  void side_connected(redis::Shard& shard, redis::Side side) override;
  void side_disconnected(redis::Shard& shard, redis::Side side) override;
  void invalidated(redis::Shard& shard, const base::Reply& keys) override;
  void moved(const redis::cluster::SlotSet& slots) override;

  Runtime runtime_;
  Watchdog watchdog_;
  const boost::intrusive_ptr<Targets> targets_;
  LateReleases late_releases_;
  std::shared_ptr<redis::ServerEvents> watcher_;  // null: the LossWatch

  base::Mutex mutex_;
  /// Who is told of the end; nothing once they have been.
  std::optional<std::vector<std::function<void()>>> when_closed_ HOLDFAST_GUARDED_BY(mutex_){std::in_place};
  base::Mutex stop_mutex_;  // by one thread at a time
};

// Clients on the caller's io_context, which end when that is destroyed, if not before.

/// When the io_context is destroyed while the client is open, its operations are dropped, as Asio drops its own:
/// handlers are destroyed and never called.
std::shared_ptr<Core> make_guest(Config config, boost::asio::io_context& host);

}  // namespace holdfast::engine
