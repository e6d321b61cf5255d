// Any one of several plain locks as data for the engine.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// What is granted is a plain lock, by its own name.
extern const engine::Plan kAnyLock;

}  // namespace holdfast::kinds
