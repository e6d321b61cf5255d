// A lock as the verbs see it that look at it or break it: on one server, or on several at the same time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "base/clock.hpp"
#include "cli/options.hpp"
#include "cli/survey.hpp"

namespace holdfast::cli {

/// Used by one thread.
class LockOnServers {
 public:
  LockOnServers(std::vector<Config> configs, std::string name, LockKind kind);

  /// Asks every server who has it. Never throws for a server's failure. A server that has not answered when `until` has
  /// come is given up, and this object with it: nothing but its end may follow.
  Survey ask(Detail detail = Detail::holder, std::optional<base::TimePoint> until = {});

  /// What became of one server's part.
  struct Part {
    bool taken = false;          ///< By this call; false if it was not this owner's any more.
    std::optional<Error> error;  ///< No answer: it may have been taken.
  };
  /// Takes it from the owners that these answers name, on each server from the one that was seen there, and from nobody
  /// who has come since. An answer without an owner is left out, its part is empty.
  std::vector<Part> take_from_owners(const std::vector<Answer>& seen);

  /// The server; of several their number.
  const std::string& node() const { return node_; }
  /// `lock "name" on node`
  std::string in_words() const;

 private:
  /// Calls it for every server, for several at the same time. The clients are closed when `until` has come.
  void for_each(const std::function<void(std::size_t)>& call, std::optional<base::TimePoint> until = {});

  std::string name_;
  std::vector<Client> clients_;
  std::vector<KeyLock> locks_;
  std::string node_;
};

}  // namespace holdfast::cli
