// What takers have recorded (`hold_for`, `events=`): who held what, and when. See tests/README.md.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// Microseconds of the clock that all processes of a machine share; 0: never.
using Microseconds = long long;

/// One hold of one thread.
struct HeldOnce {
  std::string client;  ///< The process.
  std::string name, owner;
  Microseconds called = 0, granted = 0, deadline = 0, told = 0, released = 0, ended = 0;
  std::string outcome, reason;  ///< Of the release; of the loss, or `-`.
  long long number = 0;         ///< That was written to the file; 0: none.

  /// When its holder stopped to believe in it.
  Microseconds believed_until() const {
    Microseconds until = released;
    if (deadline != 0) until = std::min(until, deadline);
    if (told != 0) until = std::min(until, told);
    return until;
  }
  /// The server had lost it, and not because its lease was over.
  bool forgotten() const { return reason == "taken" || (outcome == "was_lost" && reason == "-"); }
  /// When its holder learned that: by the loss signal, or at the end of its release.
  Microseconds learned() const { return told != 0 ? told : ended; }
};

/// A call that was not granted.
struct FailedCall {
  std::string client, name;
  Microseconds called = 0, ended = 0;
  std::string cause;
};

/// A connection that was made or ended.
struct ConnectionChange {
  std::string client;
  Microseconds time = 0;
  std::string node;
  bool connected = false;
};

struct History {
  std::vector<HeldOnce> holds;
  std::vector<FailedCall> failures;
  std::vector<ConnectionChange> connections;

  /// A line of a record. Throws std::invalid_argument if it is none.
  void add(const std::string& client, std::string_view line);
  /// All files in a folder that end in `.record`; the client is what stands before the first dot of their names. A line
  /// that is still being written is left out.
  static History read(const std::string& folder);

  std::vector<HeldOnce> holds_of(const std::string& name) const;
};

}  // namespace holdfast::test
