// Targets that are made of other locks' targets.
#pragma once

#include <vector>

#include <holdfast/basic_lock.hpp>

namespace holdfast::face {

/// All of these single locks, each once. Throws Error(invalid_argument) if there is none.
engine::Parts all_of(const std::vector<engine::Parts>& members);
/// A majority of these, each of a client of its own. Throws Error(invalid_argument).
engine::Parts majority_of(const std::vector<engine::Parts>& members);

}  // namespace holdfast::face
