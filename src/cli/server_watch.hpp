// SPDX-License-Identifier: Apache-2.0
// The state of a server's locks, queried periodically in the background.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/lock_info.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/probe.hpp>

#include "cli/kinds.hpp"

namespace holdfast::cli {

/// What is known of one server.
struct SeenServer {
  std::string server;  ///< As text, without secrets.
  bool up = false;     ///< It answered the latest look; otherwise the rest is empty.
  std::size_t locks = 0;
  std::size_t without_expiry = 0;
  std::uint64_t waiters = 0;                            ///< Connections that listen for a release.
  std::optional<std::chrono::milliseconds> lowest_ttl;  ///< Of those with an expiry; empty: there are none.
  std::chrono::nanoseconds took{};                      ///< The latest look.
  std::optional<std::chrono::system_clock::time_point> answered_at{};  ///< Most recently; kept while it is down.
  std::optional<std::vector<Finding>> findings{};                      ///< Empty: not examined.
  std::vector<FoundLock> listed{};                    ///< If they are kept (ServerWatch::Settings::most_kept).
  std::string trouble{};                              ///< Why it has not answered.
  std::uint64_t looks = 0;                            ///< How many looks there were.
  std::chrono::steady_clock::time_point looked_at{};  ///< The end of the latest, or the start of the watch.
};

/// Counts the listed locks. Pure.
void count_locks(SeenServer& seen, const std::vector<FoundLock>& locks);

/// The families of all servers, and the version of the tool. Pure.
Metrics metrics_of(const std::vector<SeenServer>& servers);

/// Queries one server in a thread of its own, so that callers get an answer at once, whatever the server does. Each
/// query is a look. Destruction waits for the current one.
class ServerWatch {
 public:
  struct Settings {
    std::string pattern = "*";
    std::vector<LockKind> kinds{};         ///< None: those of kinds_for(pattern).
    std::chrono::milliseconds interval{};  ///< Between two looks.
    std::chrono::milliseconds doctor{};    ///< Between two examinations; 0: none.
    std::size_t most_kept = 0;             ///< Keep so many locks, those with the most waiters first.
    bool queues = false;                   ///< With the queues of some locks.
    std::function<void()> looked{};        ///< Called after each look, in the watch's thread. Must not block.
  };
  ServerWatch(Config config, Settings settings);
  ServerWatch(const ServerWatch&) = delete;
  ServerWatch& operator=(const ServerWatch&) = delete;

  /// From any thread.
  SeenServer seen() const;

 private:
  void watch(const std::stop_token& stop);

  const Config config_;
  const Settings settings_;
  mutable std::mutex mutex_;
  std::condition_variable_any stopped_;
  SeenServer seen_;  // guarded by mutex_
  std::jthread thread_;
};

using ServerWatches = std::vector<std::unique_ptr<ServerWatch>>;

/// One for each server, whose connections have this label if they have no other.
ServerWatches watch_all(std::vector<Config> configs, const char* label, const ServerWatch::Settings& settings);

std::vector<SeenServer> seen_by(const ServerWatches& watches);

}  // namespace holdfast::cli
