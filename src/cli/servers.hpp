// The servers on which `holdfast run` takes its lock, and the lock made of all its names on all of them.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "cli/options.hpp"

namespace holdfast::cli {

/// A client per server. Made and destroyed by one thread; `holder` is called by one thread at a time.
class Servers {
 public:
  explicit Servers(std::vector<Config> configs);

  /// All names together; where there are several servers, on a majority of them.
  BasicLock lock(const std::vector<std::string>& names, LockKind kind);

  /// Who has one of the names, as far as that can be learnt soon; empty: nobody, or no answer.
  std::optional<LockInfo> holder(const std::vector<std::string>& names, LockKind kind);

  /// The server; of several their number.
  std::string in_words() const;
  std::vector<std::string> nodes() const;
  std::uint64_t renewals() const;

  /// Closes all clients at the same time. False: of several servers some are silent, and their clients still try to
  /// give back what they may have; the destructor would wait for that.
  bool close();

 private:
  std::vector<std::future<std::optional<LockInfo>>> late_;  // ended by the closing of the clients
  std::vector<Client> clients_;
  std::vector<std::future<void>> closing_;
};

}  // namespace holdfast::cli
