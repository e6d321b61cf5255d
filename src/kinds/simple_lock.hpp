// The lock of the SET NX PX family as data for the engine.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// SET NX PX and compare-and-delete (docs/wire.md section 2).
extern const engine::Plan kSimpleLock;

}  // namespace holdfast::kinds
