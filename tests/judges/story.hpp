// SPDX-License-Identifier: Apache-2.0
// All that a judge is told of a run: what was recorded, what went wrong on purpose, and how the locks were set.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judges/history.hpp"

namespace holdfast::test {

/// A fault that struck, and what is promised under it.
struct StruckFault {
  Text kind{};             ///< `server killed, data kept`
  Microseconds began = 0;  ///< Right before it was done.
  Microseconds ended = 0;  ///< All is as before again: the server serves, the link is up, the process runs. 0: never.
  std::vector<Text> names{};  ///< It concerns these locks; empty: all.
  /// It strikes these processes; empty: servers, or links of all.
  std::vector<Text> clients{};
  bool stands_still = true;  ///< They do, until it has ended: what they do takes so much longer. Not if links are cut.
  bool kills = false;        ///< They are gone for good.

  /// If not, overlaps of holds are counted and not judged: those of which one was granted from `began` to this time.
  bool exclusion_promised = true;
  Microseconds counted_until = 0;
  /// A holder whose lock was lost by it knows that at the latest so long after `ended`, or after its grant if that is
  /// later. Only where `exclusion_promised` is not; 0: nothing is promised.
  Microseconds told_within = 0;
  bool tokens_promised = true;  ///< If not, they may begin anew or come again: the servers have lost data.
  /// If not, what no acks are asked for may be lost, until `counts_until`: plain semaphores, and latches.
  bool counts_promised = true;
  Microseconds counts_until = 0;

  /// Until then holds and tokens may be lost by it; HeldOnce::kNever: it has not ended.
  Microseconds works_until() const;
  bool concerns(Text name) const;
  bool strikes(Text client) const;
};

/// How the takers were set, and what a loaded machine may add.
struct StorySettings {
  Microseconds lease = 30'000'000;
  Microseconds safety_poll = 2'000'000;
  Microseconds command_timeout = 3'000'000;
  Microseconds release_timeout = 3'000'000;
  Microseconds patience = 15'000'000;
  /// The limit of each wait whose record does not say it; 0: none.
  Microseconds wait = 0;
  /// So much later than promised may anything happen, since the machine is busy.
  Microseconds allowance = 2'000'000;
  /// A refusal does not prove that somebody had the lock: a majority of several servers, or several locks.
  bool split_votes = false;
  /// Clients whose names begin so are of other libraries: nothing is promised to them, and nothing by them.
  std::vector<std::string> others;
};

/// Of a semaphore.
struct Permits {
  long long all = 0;    ///< So many may have one at once.
  long long left = -1;  ///< That could be taken in the end, when all leases were over; -1: nobody has looked.
  /// They have no lease, and go with a process that is killed. How many were left the history says.
  bool plain = false;
};

/// While one of the machine's processors did not run, though nobody had asked for that: whoever was on it stood still.
struct Standstill {
  Microseconds began = 0, ended = 0;
  friend bool operator==(const Standstill&, const Standstill&) = default;
};

struct Story {
  History history;
  std::vector<StruckFault> faults;
  std::vector<Standstill> standstills;  ///< One after another.
  StorySettings settings;
  /// What the files of numbers say in the end, by the name of the lock that guards them. May be left out.
  std::map<std::string, long long> numbers;
  /// Of the names that are semaphores; all others are locks.
  std::map<std::string, Permits> permits;
  /// How many locks were found free by a safety poll, as the clients count it.
  long long safety_poll_wakes = 0;

  bool is_other(Text client) const;
  /// A semaphore whose permits have no lease.
  bool is_plain(Text name) const;
};

/// As `story.json` beside the records in a folder, for judging again. Throws std::runtime_error.
void write_story(const Story& story, const std::string& folder);
Story read_story(const std::string& folder);

}  // namespace holdfast::test
