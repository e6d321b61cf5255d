// Redisson's plain lock as data for the engine.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RLock (docs/wire.md section 2).
extern const engine::Plan kLock;

}  // namespace holdfast::kinds
