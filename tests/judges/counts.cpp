// SPDX-License-Identifier: Apache-2.0
// How often a thread has entered: what it is told of that, it must have done.
#include <algorithm>
#include <map>
#include <tuple>

#include "judges/judges.hpp"

namespace holdfast::test {

void judge_counts(const View& view, Verdict& verdict) {
  std::vector<const Operation*> all;
  for (const Operation& each : view.story().history.operations) all.push_back(&each);
  std::ranges::stable_sort(all, {}, &Operation::called);
  std::map<std::tuple<Text, Text, long long>, int> depths;  // by client, lock and thread
  for (const Operation* each : all) {
    int& depth = depths[{each->client, each->name, each->thread}];
    const std::string& outcome = each->outcome;
    const int before = depth;
    bool right = true;
    if (each->acquire) {
      if (outcome == "granted") ++depth;
    } else if (outcome == "still_held") {
      right = depth-- > 1;
    } else {
      right = outcome != "released" || depth == 1;
      depth = 0;
    }
    if (right) continue;
    depth = std::max(depth, 0);
    verdict.violations.push_back({"count", "thread " + std::to_string(each->thread) + " of " + each->client.str() +
                                               ", which had entered " + each->name.str() + " " +
                                               std::to_string(before) + " times, was told " + outcome +
                                               " by a release, " + view.at(each->called)});
  }
}

}  // namespace holdfast::test
