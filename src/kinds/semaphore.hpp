// The plan of the semaphore: a number that callers take from, and that nobody holds.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RSemaphore (docs/wire.md section 11).
extern const engine::Plan kSemaphore;

}  // namespace holdfast::kinds
