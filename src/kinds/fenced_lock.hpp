// Redisson's fenced lock as data for the engine.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RFencedLock: the plain lock, and a number that grows with each grant (docs/wire.md section 2).
extern const engine::Plan kFencedLock;

}  // namespace holdfast::kinds
