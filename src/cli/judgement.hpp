// The answers of one or several servers about a lock, and the conclusion.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast::cli {

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

}  // namespace holdfast::cli
