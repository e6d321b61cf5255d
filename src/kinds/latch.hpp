// The plan of the latch: acquiring it means finding it open, and changes nothing.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// Redisson's RCountDownLatch (docs/wire.md section 13).
extern const engine::Plan kLatch;

}  // namespace holdfast::kinds
