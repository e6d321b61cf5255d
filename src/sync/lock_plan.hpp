// The plain lock as data for the engine.
#pragma once

#include "engine/plan.hpp"

namespace holdfast::sync {

/// Redisson's RLock (protocol section 6.1).
extern const engine::Plan kLockPlan;

}  // namespace holdfast::sync
