// SPDX-License-Identifier: Apache-2.0
// What came out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judges/measures.hpp"

namespace holdfast::test {

/// A promise that was not kept.
struct Violation {
  /// `exclusion`, `told`, `wait`, `free lock`, `outcome`, `count`, `token`, `permits`, `latch`, `lost update`.
  std::string promise;
  std::string text;  ///< Who, what, when, and which faults were near.
};

struct Verdict {
  std::vector<Violation> violations;

  long long holds = 0, failed_calls = 0, open_holds = 0, names = 0, clients = 0, faults = 0;
  long long shared_holds = 0;   ///< Of readers, and of permits.
  long long tokens = 0;         ///< Grants whose token was compared with those before it.
  long long latches = 0;        ///< Without a fault that loses counts.
  long long plain_counted = 0;  ///< How often what was left of one, or of a plain semaphore, was judged.
  std::map<std::string, long long> faults_by_kind, failed_by_word;

  /// Under faults under which exclusion is not promised, or between clients of other libraries.
  long long overlaps_counted = 0, overlaps_of_others = 0;
  Spread overlapped;  ///< How long those that were counted lasted.

  long long forgotten = 0;  ///< Holds that the servers lost.
  long long lost = 0;       ///< Holds that were lost at all.
  /// How long after the fault, or the connection behind it, their holders knew, but for times in which they stood
  /// still.
  Spread told;
  /// How long after its deadline a holder had the signal, but for times in which it stood still.
  Spread told_at_deadline;

  Microseconds longest_acquire = 0, longest_release = 0;
  std::string longest_acquire_by, longest_release_by;
  Spread wait;  ///< All waits.
  /// How long locks were free while somebody waited, of those times that are longer than half a safety poll.
  long long long_free = 0;
  Microseconds longest_free = 0, longest_free_undisturbed = 0;  ///< The second: far from faults and unknown outcomes.
  std::string longest_free_at;
  long long safety_poll_wakes = 0;

  long long updates = 0, lost_updates = 0;                      ///< With `valid_for()` checks before the write.
  long long updates_unchecked = 0, lost_updates_unchecked = 0;  ///< Without.

  /// By what: the kind of a fault under which exclusion is not promised, or in words what else it was.
  std::map<std::string, long long> overlaps_counted_by, forgotten_by, lost_updates_by;

  /// Acquires, releases and refusals that Porcupine judged; each lock's history in pieces.
  long long outcomes_judged = 0, outcome_pieces = 0, outcome_pieces_undecided = 0;

  bool good() const { return violations.empty(); }
  /// Flat figures in plain words, as one object in one line.
  std::string json() const;
  /// For a reader: the figures, and each violation (of many the first `most`).
  std::string text(std::size_t most = 20) const;
};

}  // namespace holdfast::test
