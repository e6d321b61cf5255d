// The plan of the read-write lock: one owner alone, or several who share it.
#pragma once

#include "engine/decide/plan.hpp"

namespace holdfast::kinds {

extern const engine::Plan kReadWriteLock;

}  // namespace holdfast::kinds
