// The servers on which `holdfast run` takes its lock, and the lock made of all its names on all of them.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "cli/options.hpp"

namespace holdfast::cli {

/// A client per server. Made and destroyed by one thread; `holders` is called by one thread at a time.
class Servers {
 public:
  explicit Servers(std::vector<Config> configs);

  /// All names together; with several servers, on a majority of them.
  BasicLock lock(const std::vector<std::string>& names, LockKind kind) const;
  /// Any one of them, on one server.
  BasicLock any_of(const std::vector<std::string>& names, LockKind kind) const;

  /// Sets the total number of permits under this name, on one server, replacing any earlier one. Throws Error, also if
  /// there is no answer within `limit`, or before the stop.
  void say_how_many(const std::string& name, int permits, std::chrono::milliseconds limit, const std::stop_token& stop);

  /// The names that are held on any server, so that such a lock must wait; empty: no answer in this time, or only
  /// failures.
  std::optional<std::vector<LockInfo>> holders(const std::vector<std::string>& names, LockKind kind,
                                               std::chrono::milliseconds limit);

  /// The first client.
  const Client& first() const { return clients_.front(); }
  /// The server; for several, their number.
  std::string in_words() const;
  std::vector<std::string> nodes() const;
  std::uint64_t renewals() const;
  /// True if there was a connection to the server, or to a majority of several.
  bool reached() const;

  /// Closes all clients at the same time, and waits up to 0.3 s for their releases. Silent servers keep their client
  /// busy for longer, and the destructor would wait for that.
  void close();

 private:
  std::vector<std::future<std::optional<std::vector<LockInfo>>>> late_;  // ended by the closing of the clients
  std::vector<std::future<void>> late_calls_;                            // too
  std::vector<Client> clients_;
  std::vector<std::future<void>> closing_;
};

}  // namespace holdfast::cli
