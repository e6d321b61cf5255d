// Targets that are made of other locks' targets.
#pragma once

#include <vector>

#include <holdfast/detail/parts.hpp>

namespace holdfast::face {

/// All of these single locks, each once. Throws Error(invalid_argument) if there is none.
detail::Parts all_of(const std::vector<detail::Parts>& members);
/// A majority of these, each of a client of its own. Throws Error(invalid_argument).
detail::Parts majority_of(const std::vector<detail::Parts>& members);

}  // namespace holdfast::face
