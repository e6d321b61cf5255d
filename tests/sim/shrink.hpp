// SPDX-License-Identifier: Apache-2.0
// Makes a plan that fails as small as it can be while it still fails in the same way.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "sim/plan.hpp"

namespace holdfast::test::sim {

/// The promise that a run of this plan violates; empty: none.
using Verdict = std::function<std::string(const Plan& plan)>;

/// Without clients, actions and faults that it does not need, with shorter times. `verdict` is asked so often at most.
Plan shrink(Plan plan, const Verdict& verdict, std::size_t most = 5000);

}  // namespace holdfast::test::sim
