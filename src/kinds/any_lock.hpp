// Any one of several plain locks as data for the engine.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

/// The grant is of a plain lock, under its own name.
extern const engine::Plan kAnyLock;

}  // namespace holdfast::kinds
