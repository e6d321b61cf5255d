// SPDX-License-Identifier: Apache-2.0
// One run of a plan, from its first event to the last lock given back.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "sim/judge.hpp"
#include "sim/member.hpp"
#include "sim/plan.hpp"

namespace holdfast::test::sim {

struct Outcome {
  std::optional<Violation> violation;
  std::uint64_t digest = 0, bytes = 0;
  base::Duration length{};  // in simulated time
  Deeds deeds;
  Counters counters;  // those that Member sums up
  Judge::Tally tally;
  std::array<std::uint64_t, kFaultKinds> faults{};  // that came about
};

using Trace = std::function<void(base::TimePoint at, const std::string& what)>;
Outcome run(const Plan& plan, const Trace& trace = {});

}  // namespace holdfast::test::sim
