// SPDX-License-Identifier: Apache-2.0
#include "judges/measures.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace holdfast::test {
namespace {

constexpr Microseconds kRecordedLate = 50'000;

}  // namespace

Microseconds Overlap::lasted() const {
  return std::min(first.believed_until(), second.believed_until()) - second.granted;
}

std::vector<Overlap> overlaps(std::vector<HeldOnce> holds) {
  std::ranges::sort(holds, {}, &HeldOnce::granted);
  std::unordered_map<Text, const HeldOnce*> latest;  // by name, whoever believes longest so far
  std::vector<Overlap> found;
  for (const HeldOnce& hold : holds) {
    const HeldOnce*& other = latest[hold.name];
    if (other != nullptr && hold.granted < other->believed_until()) found.push_back({*other, hold});
    if (other == nullptr || hold.believed_until() > other->believed_until()) other = &hold;
  }
  return found;
}

std::vector<HeldOnce> forgotten(const std::vector<HeldOnce>& holds) {
  std::vector<HeldOnce> found;
  std::ranges::copy_if(holds, std::back_inserter(found), &HeldOnce::forgotten);
  return found;
}

std::vector<Microseconds> notice_delays(const History& history) {
  std::vector<Microseconds> delays;
  for (const HeldOnce& hold : forgotten(history.holds)) {
    Microseconds since = hold.granted;
    for (const ConnectionChange& change : history.connections) {
      const bool between = change.time > since && change.time <= hold.learned() + kRecordedLate;
      if (change.client == hold.client && change.connected && between) since = change.time;
    }
    delays.push_back(std::max<Microseconds>(hold.learned() - since, 0));
  }
  return delays;
}

Outage outage(const std::vector<HeldOnce>& holds, Microseconds fault, Microseconds until) {
  std::vector<Microseconds> grants{fault};
  for (const HeldOnce& hold : holds) {
    if (hold.granted < until) grants.push_back(hold.granted);
  }
  std::ranges::sort(grants);
  Outage found;
  for (std::size_t i = 1; i < grants.size(); ++i) {
    if (grants[i] <= fault) continue;
    const Microseconds pause = grants[i] - grants[i - 1];
    if (!found.ended || pause > found.pause) found = {grants[i] - fault, pause, true};
  }
  return found;
}

LongestCalls longest_calls(const History& history) {
  LongestCalls longest;
  for (const HeldOnce& hold : history.holds) {
    longest.acquire = std::max(longest.acquire, hold.granted - hold.called);
    longest.release = std::max(longest.release, hold.ended - hold.released);
  }
  for (const FailedCall& call : history.failures) longest.acquire = std::max(longest.acquire, call.ended - call.called);
  return longest;
}

long long lost_updates(const std::vector<HeldOnce>& holds, long long last) {
  return std::ranges::count_if(holds, [](const HeldOnce& hold) { return hold.number != 0; }) - last;
}

Spread spread(std::vector<Microseconds> times) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  return {times[times.size() / 2], times.back()};
}

std::string in_ms(Microseconds time) {
  const long long tenths = (time + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

std::string in_ms(const Spread& spread) { return "median " + in_ms(spread.median) + ", worst " + in_ms(spread.worst); }

}  // namespace holdfast::test
