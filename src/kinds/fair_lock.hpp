// Redisson's fair lock as data for the engine.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RFairLock: the plain lock with a queue of waiters (docs/wire.md section 10).
extern const engine::Plan kFairLock;

}  // namespace holdfast::kinds
