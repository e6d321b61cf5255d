// SPDX-License-Identifier: Apache-2.0
// What a run of the failover cases tells a reader, in words.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "judges/measures.hpp"
#include "support/strike.hpp"

namespace holdfast::test {

/// One library's part of a run.
struct Part {
  std::string title;  ///< `Holdfast, acks=all`
  History history;
  long long lost_updates = 0;
  bool counts_polls = false;  ///< Struck::polls is about this part.
};

/// What the faults did to those who want this name: one outage for each that struck. The run ended at `end`.
std::map<Fault, std::vector<Outage>> outages(const History& history, const std::string& name,
                                             const std::vector<Struck>& struck, Microseconds end);

/// A few lines; `name` is the one that most want.
void write_report(std::ostream& out, const Part& part, const std::string& name, const std::vector<Struck>& struck,
                  Microseconds end);

}  // namespace holdfast::test
