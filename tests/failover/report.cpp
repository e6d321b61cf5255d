// SPDX-License-Identifier: Apache-2.0
#include "failover/report.hpp"

#include <algorithm>
#include <span>

namespace holdfast::test {
namespace {

std::string in_words(const HeldOnce& hold) {
  return hold.client.str() + " " + hold.owner.str() + " granted " + std::to_string(hold.granted) + ", believed until " +
         std::to_string(hold.believed_until()) + ", " + hold.outcome.str() + " (" + hold.reason.str() + ")";
}

template <class Projection>
Spread spread_of(const std::vector<Outage>& outages, Projection projection) {
  std::vector<Microseconds> times;
  for (const Outage& each : outages) {
    if (each.ended) times.push_back(each.*projection);
  }
  return spread(times);
}

}  // namespace

std::map<Fault, std::vector<Outage>> outages(const History& history, const std::string& name,
                                             const std::vector<Struck>& struck, Microseconds end) {
  std::map<Fault, std::vector<Outage>> found;
  const std::vector<HeldOnce> holds = history.holds_of(name);
  for (std::size_t i = 0; i < struck.size(); ++i) {
    const Microseconds until = i + 1 < struck.size() ? struck[i + 1].at : end;
    found[struck[i].fault].push_back(outage(holds, struck[i].at, until));
  }
  return found;
}

void write_report(std::ostream& out, const Part& part, const std::string& name, const std::vector<Struck>& struck,
                  Microseconds end) {
  const History& history = part.history;
  const std::vector<Overlap> overlapping = overlaps(history.holds);
  std::vector<Microseconds> lasted;
  for (const Overlap& each : overlapping) lasted.push_back(each.lasted());
  const LongestCalls longest = longest_calls(history);
  out << part.title << ": " << history.holds.size() << " holds, " << overlapping.size() << " overlapping ("
      << in_ms(spread(lasted)) << "), " << forgotten(history.holds).size() << " forgotten, " << part.lost_updates
      << " lost updates, " << history.failures.size() << " failed calls\n";
  for (const Overlap& each : std::span(overlapping).first(std::min<std::size_t>(overlapping.size(), 3))) {
    out << "  for example " << each.first.name << ": " << in_words(each.first) << "; " << in_words(each.second) << "\n";
  }
  if (!forgotten(history.holds).empty()) {
    out << "  holder of a forgotten lock told after the connection: " << in_ms(spread(notice_delays(history))) << "\n";
  }
  out << "  longest acquire " << in_ms(longest.acquire) << ", longest release " << in_ms(longest.release) << "\n";
  for (const auto& [fault, all] : outages(history, name, struck, end)) {
    const auto endless = std::ranges::count_if(all, [](const Outage& each) { return !each.ended; });
    out << "  " << to_string(fault) << " (" << all.size() << "): next grant "
        << in_ms(spread_of(all, &Outage::until_next)) << "; longest pause " << in_ms(spread_of(all, &Outage::pause));
    std::vector<Microseconds> elections;
    long long polls = 0;
    for (const Struck& each : struck) {
      if (each.fault != fault) continue;
      elections.push_back(each.served - each.at);
      polls += each.polls;
    }
    out << "; the servers took " << in_ms(spread(elections));
    if (part.counts_polls && polls > 0) out << "; " << polls << " found free by a safety poll";
    if (endless > 0) out << "; " << endless << " without a grant until the next fault";
    out << "\n";
  }
  std::map<std::string, int> causes;
  for (const FailedCall& call : history.failures) ++causes[call.cause.str()];
  for (const auto& [cause, times] : causes) out << "  failed " << times << " times: " << cause << "\n";
}

}  // namespace holdfast::test
