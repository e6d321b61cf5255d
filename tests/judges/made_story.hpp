// SPDX-License-Identifier: Apache-2.0
// Stories that are made, not recorded: correct ones of any size from a seed, into which a test plants a violation.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "judges/story.hpp"

namespace holdfast::test {

struct MadeStory {
  std::uint64_t seed = 1;
  int holds = 1000, names = 3, clients = 4;
  bool troubles = true;  ///< Calls that fail, outcomes that are unknown, processes that freeze or are killed.
};

/// What could have been recorded of a lock that keeps its promises: every hold, release and failed call happened at
/// some moment between its beginning and its end.
Story make_story(const MadeStory& options);

/// Believed in from `granted` to `released`, with no end of its lease in between.
HeldOnce held(const std::string& owner, Microseconds granted, Microseconds released, const std::string& name = "x");

/// The promises that the judge finds broken in it, one for each violation.
std::vector<std::string> promises(const Story& story);

}  // namespace holdfast::test
