// SPDX-License-Identifier: Apache-2.0
// Several servers, asked at the same time; and a lock on them for the verbs that inspect, await or break it, with what
// follows from the answers.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/lock_info.hpp>

#include "base/clock.hpp"
#include "cli/kinds.hpp"

namespace holdfast::cli {

/// Calls it with each at the same time; with a single one, in this thread. The answers come in the same order.
template <class Each, class Ask>
auto ask_all(const std::vector<Each>& all, Ask ask) {
  using Answer = std::invoke_result_t<Ask, const Each&>;
  const auto policy = all.size() == 1 ? std::launch::deferred : std::launch::async;
  std::vector<std::future<Answer>> asked;
  for (const Each& each : all) asked.push_back(std::async(policy, ask, std::cref(each)));
  std::vector<Answer> answers;
  for (std::future<Answer>& each : asked) answers.push_back(each.get());
  return answers;
}

/// A client for each server. Made and destroyed by one thread, which waits for what is still asked.
class AtServers {
 public:
  explicit AtServers(std::vector<Config> configs);

  const std::vector<Client>& clients() const { return clients_; }
  const Client& first() const { return clients_.front(); }
  bool several() const { return clients_.size() > 1; }
  /// The server; for several, their number.
  std::string in_words() const;
  std::vector<std::string> nodes() const;

  /// As ask_all() with copies of these, but an answer that has not come by then is empty: the call ends with its
  /// client. By one thread at a time.
  template <class Each, class Ask>
  auto ask_by(base::TimePoint until, const std::vector<Each>& all, Ask ask) {
    using Answer = std::invoke_result_t<Ask, const Each&>;
    std::vector<std::future<Answer>> asked;
    for (const Each& each : all) asked.push_back(std::async(std::launch::async, ask, each));
    std::vector<std::optional<Answer>> answers(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (asked[i].wait_for(until - base::Clock::now()) == std::future_status::ready) {
        answers[i] = asked[i].get();
      } else {
        late_.push_back(std::make_shared<std::future<Answer>>(std::move(asked[i])));
      }
    }
    return answers;
  }

  /// Closes all clients at the same time, and waits up to 0.3 s for their releases. Silent servers keep their client
  /// busy for longer, and the destructor would wait for that.
  void close();

 private:
  std::vector<std::shared_ptr<void>> late_;  // ended by the closing of the clients
  std::vector<Client> clients_;
  std::vector<std::future<void>> closing_;
};

/// One server's answer.
struct Answer {
  std::string node;
  std::optional<LockInfo> info;  ///< Empty: no answer.
  std::optional<Error> error;    ///< Why.

  bool held() const { return info && !info->owner.empty(); }
};

/// What follows from all of them.
struct Judgement {
  enum class Verdict {
    held,       ///< One owner has it on a majority of all servers; with one server: somebody has it.
    free,       ///< Nobody can have a majority.
    undecided,  ///< Depends on servers that gave no answer.
  };

  std::vector<Answer> answers;  ///< In the order of the given servers.
  Verdict verdict = Verdict::undecided;
  /// When held: by whom, and until when they have a majority without renewal. Otherwise the name, and with one server
  /// the waiters.
  LockInfo lock;
  std::size_t votes = 0;  ///< When held: on how many servers.

  std::size_t quorum() const { return answers.size() / 2 + 1; }
  std::size_t silent() const;
};

/// Counts the votes. Pure.
Judgement judge(const std::string& name, std::vector<Answer> answers);

/// The error without lock and server, which are shown elsewhere.
std::string in_words(const Error& error);

/// The error if no majority of servers answered: the only server's own, or `no_quorum` with the answer of each.
Error no_majority(const Judgement& judgement);

/// Used by one thread.
class LockAtServers {
 public:
  LockAtServers(std::vector<Config> configs, std::string name, LockKind kind);

  /// Asks every server who has it. Never throws for a server's failure. A server that has not answered by `until` is
  /// given up.
  Judgement ask(InfoDetail detail = InfoDetail::holder, std::optional<base::TimePoint> until = {});

  /// The result on one server.
  struct Part {
    bool taken = false;          ///< By this call; false if it was not this owner's any more.
    std::optional<Error> error;  ///< No answer: it may have been taken.
  };
  /// Takes it from the owners in these answers, on each server only from the owner seen there, not from a later one.
  /// For an answer without an owner the part is empty.
  std::vector<Part> take_from_owners(const std::vector<Answer>& seen);

  /// The server; for several, their number.
  std::string node() const { return servers_.in_words(); }
  /// `lock "name" on node`
  std::string in_words() const;

 private:
  struct Place {
    std::string node;
    KeyLock lock;
  };

  const std::string name_;
  AtServers servers_;
  std::vector<Place> locks_;
};

/// The environment variable with the owners of the runs around a command, the innermost last.
inline constexpr const char* kOwners = "HOLDFAST_OWNERS";

/// The owners of the runs around this one.
std::vector<std::string> owners_around();

/// Throws UsageError if one of these locks is held by a run around this one.
void refuse_to_wait_for_ourselves(const std::vector<LockInfo>& holders);

}  // namespace holdfast::cli
