// Redisson's spin lock as data for the engine.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RSpinLock: the plain lock without messages (docs/wire.md section 2).
extern const engine::Plan kSpinLock;

}  // namespace holdfast::kinds
