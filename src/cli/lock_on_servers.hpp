// A lock for the verbs that inspect or break it: on one server, or on several at the same time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "base/clock.hpp"
#include "cli/judgement.hpp"
#include "cli/options.hpp"

namespace holdfast::cli {

/// Used by one thread.
class LockOnServers {
 public:
  LockOnServers(std::vector<Config> configs, std::string name, LockKind kind);

  /// Asks every server who has it. Never throws for a server's failure. A server that has not answered by `until` is
  /// given up; after that this object may only be destroyed.
  Judgement ask(Detail detail = Detail::holder, std::optional<base::TimePoint> until = {});

  /// The result on one server.
  struct Part {
    bool taken = false;          ///< By this call; false if it was not this owner's any more.
    std::optional<Error> error;  ///< No answer: it may have been taken.
  };
  /// Takes it from the owners in these answers, on each server only from the owner seen there, not from a later one.
  /// For an answer without an owner the part is empty.
  std::vector<Part> take_from_owners(const std::vector<Answer>& seen);

  /// The server; for several, their number.
  const std::string& node() const { return node_; }
  /// `lock "name" on node`
  std::string in_words() const;

 private:
  /// Calls it for every server, for several at the same time. Closes the clients at `until`.
  void for_each(const std::function<void(std::size_t)>& call, std::optional<base::TimePoint> until = {});

  std::string name_;
  std::vector<Client> clients_;
  std::vector<KeyLock> locks_;
  std::string node_;
};

}  // namespace holdfast::cli
