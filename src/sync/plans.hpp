// The kinds of locks as data for the engine.
#pragma once

#include "engine/plan.hpp"

namespace holdfast::sync {

/// Redisson's RLock (protocol section 6.1).
extern const engine::Plan kLockPlan;

/// SET NX PX and compare-and-delete.
extern const engine::Plan kSimplePlan;

}  // namespace holdfast::sync
