// SPDX-License-Identifier: Apache-2.0
// What takers have recorded (`hold_for`, `record=`, `events=`): who held what, and when. See tests/README.md.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "judges/text.hpp"
#include "support/shared_clock.hpp"

namespace holdfast::test {

/// One hold of one thread. Small: there may be ten million of them.
struct HeldOnce {
  Text client;  ///< The process.
  Text name;
  Owner owner;
  Microseconds called = 0, granted = 0, deadline = 0, told = 0, released = 0, ended = 0;
  Text outcome, reason;         ///< Of the release; of the loss, or `-`.
  long long number = 0;         ///< That was written to the file; 0: none.
  Microseconds wait = kNoWait;  ///< The limit of the wait for it; kNoWait: not recorded, or none.
  long long token = 0;          ///< Of kinds that have one; 0: none.
  bool shared = false;          ///< Others may have it beside this one: a reader's, or a permit of several.
  bool checked = true;          ///< It looked at `valid_for()` before it wrote.
  bool waits = true;            ///< Its release waited for the server; else `ended` is when the outcome was told.
  bool open = false;            ///< Nothing was recorded after the grant: its process has ended, and perhaps wrote.
  Text set;                     ///< Of any one of several locks, the names, with commas between them.

  static constexpr Microseconds kNoWait = -1;
  /// A deadline is recorded so much too late at most: valid times are whole milliseconds, and 0 is lost.
  static constexpr Microseconds kRounded = 2000;
  static constexpr Microseconds kNever = std::numeric_limits<Microseconds>::max();

  /// When its holder stopped to believe in it.
  Microseconds believed_until() const {
    Microseconds until = released != 0 ? released : kNever;
    if (deadline != 0) until = std::min(until, deadline);
    if (told != 0) until = std::min(until, told);
    return until;
  }
  /// The server had lost it, and not because its lease was over.
  bool forgotten() const;
  /// Its holder's clock ended it, or could have when he learned of the loss.
  bool over_by_itself() const { return deadline != 0 && learned() + kRounded >= deadline; }
  /// When its holder learned that it was lost: by the loss signal, or at the end of its release.
  Microseconds learned() const { return told != 0 ? told : ended; }
};

/// A call that was not granted.
struct FailedCall {
  Text client, name;
  Microseconds called = 0, ended = 0;
  Text cause;  ///< In words.
  Text word;   ///< One of the taker's words for errors (`busy`, `timed_out`, ...); empty: not recorded.
  Microseconds wait = HeldOnce::kNoWait;
  bool shared = false;  ///< As of a hold.
  Text set{};           ///< As of a hold; `name` says the same then.
};

/// A call of a thread that may enter again, or whose taker was told each step.
struct Operation {
  Text client, name;
  long long thread = 0;  ///< The owner.
  bool acquire = false;  ///< Or a release.
  Microseconds called = 0, ended = 0;
  Text outcome;  ///< `granted`, `released`, `still_held`, `was_lost`, or a taker's word for the failure.
};

/// A lock that was broken by force, or found free.
struct Forced {
  Text client, name;
  Microseconds called = 0, ended = 0;
  Text answer;  ///< `yes`, `no` or `unknown`.
};

/// What was done with a latch.
struct LatchCall {
  Text client, name;
  Text what;  ///< `set`, `steps` (a step may be made from now on), `step`, or `wait`.
  Microseconds called = 0, ended = 0;
  Text outcome;         ///< `set`, `counted`, `open`, `closed`, or a taker's word for the failure.
  long long steps = 0;  ///< That open it.
  Microseconds wait = HeldOnce::kNoWait;
};

/// How many permits or steps were left, of a plain semaphore or a latch.
struct Look {
  Text client, name;
  Microseconds called = 0, ended = 0;
  long long left = 0;
};

/// A connection that was made or ended.
struct ConnectionChange {
  Text client;
  Microseconds time = 0;
  Text node;
  bool connected = false;
};

struct History {
  std::vector<HeldOnce> holds;
  std::vector<FailedCall> failures;
  std::vector<Operation> operations;
  std::vector<Forced> forced;
  std::vector<LatchCall> latches;
  std::vector<Look> looks;
  std::vector<ConnectionChange> connections;

  /// A line of a record. Throws std::invalid_argument if it is none.
  void add(Text client, std::string_view line);
  /// All files in a folder that end in `.record`; the client is what stands before the first dot of their names. A line
  /// that is still being written is left out. What was granted and never ended is there as an open hold.
  static History read(const std::string& folder);

  std::vector<HeldOnce> holds_of(Text name) const;
};

/// All locks that a call was for.
std::vector<Text> names_of(const HeldOnce& hold);
std::vector<Text> names_of(const FailedCall& call);

}  // namespace holdfast::test
