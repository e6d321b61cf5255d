// The plan of the leased semaphore: so many owners at the same time, each with a permit or several.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RPermitExpirableSemaphore (docs/wire.md section 12).
extern const engine::Plan kLeasedSemaphore;

}  // namespace holdfast::kinds
