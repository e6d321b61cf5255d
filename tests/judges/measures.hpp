// SPDX-License-Identifier: Apache-2.0
// What a history shows: who overlapped, what was forgotten, who was told how late, how long nobody got in. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "judges/history.hpp"

namespace holdfast::test {

/// Two holders of one name who both believed in their holds: the second was granted while the first was not over.
struct Overlap {
  HeldOnce first, second;
  Microseconds lasted() const;
};
/// One for each hold that began inside another. The order of `holds` does not matter.
std::vector<Overlap> overlaps(std::vector<HeldOnce> holds);

std::vector<HeldOnce> forgotten(const std::vector<HeldOnce>& holds);

/// How long after its client's last connection before that the holder of each forgotten hold learned of the loss. If
/// its client has not connected since the grant: how long after the grant, since nothing else is known. Connections are
/// recorded a little late: one that was recorded up to 50 ms after the notice came before it.
std::vector<Microseconds> notice_delays(const History& history);

/// What a fault does to those who want a lock.
struct Outage {
  Microseconds until_next = 0;  ///< From the fault to the grant that ends the longest pause.
  Microseconds pause = 0;       ///< The longest time without a grant that ends after the fault.
  bool ended = false;           ///< There was a grant after the fault at all.
};
/// The fault's window ends at `until`, when the next fault begins.
Outage outage(const std::vector<HeldOnce>& holds, Microseconds fault, Microseconds until);

/// The longest that any call waited for a grant or for its failure, and that any release took.
struct LongestCalls {
  Microseconds acquire = 0, release = 0;
};
LongestCalls longest_calls(const History& history);

/// Numbers written to the file of a name, of which `last` is what it says in the end.
long long lost_updates(const std::vector<HeldOnce>& holds, long long last);

struct Spread {
  Microseconds median = 0, worst = 0;
};
Spread spread(std::vector<Microseconds> times);

/// Milliseconds with one digit.
std::string in_ms(Microseconds time);
std::string in_ms(const Spread& spread);

}  // namespace holdfast::test
