// The plan of the latch: to acquire it is to find it open, and takes nothing.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RCountDownLatch (docs/wire.md section 13).
extern const engine::Plan kLatch;

}  // namespace holdfast::kinds
