// What one server, or each of several, says of a lock, and what follows from it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast::cli {

/// One server's words.
struct Answer {
  std::string node;
  std::optional<LockInfo> info;  ///< Empty: it gave none.
  std::optional<Error> error;    ///< Why.

  bool held() const { return info && !info->owner.empty(); }
};

struct Survey {
  enum class Verdict {
    held,       ///< One owner has it on a majority of all servers; on one server: somebody has it.
    free,       ///< Nobody can have a majority.
    undecided,  ///< That depends on servers that gave no answer.
  };

  std::vector<Answer> answers;  ///< In the order in which the servers were given.
  Verdict verdict = Verdict::undecided;
  /// When held: by whom, and until when they have a majority without renewal. Else the name, and of one
  /// server who waits.
  LockInfo lock;
  std::size_t votes = 0;  ///< When held: on how many servers.

  std::size_t quorum() const { return answers.size() / 2 + 1; }
  std::size_t silent() const;
};

/// Counts. Pure.
Survey judge(const std::string& name, std::vector<Answer> answers);

/// Without the lock and the server, which are told elsewhere.
std::string in_words(const Error& error);

/// The error for a lock of which no majority could be asked: the only server's own, or `no_quorum` with the words of
/// each.
Error no_majority(const Survey& survey);

}  // namespace holdfast::cli
