// The plan of the leased semaphore: several owners at the same time, each with one or more permits.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RPermitExpirableSemaphore (docs/wire.md section 12).
extern const engine::Plan kLeasedSemaphore;

}  // namespace holdfast::kinds
