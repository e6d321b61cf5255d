// Targets composed of other locks' targets.
#pragma once

#include <vector>

#include <holdfast/detail/parts.hpp>
#include <holdfast/options.hpp>

namespace holdfast::face {

/// All of these single locks, each once. Throws Error(invalid_argument) if there is none, or for defaults out of range.
detail::PartsPtr all_of(const std::vector<detail::PartsPtr>& members, AcquireOptions defaults);
/// A majority of these, each of a client of its own. Throws Error(invalid_argument).
detail::PartsPtr majority_of(const std::vector<detail::PartsPtr>& members, AcquireOptions defaults);

}  // namespace holdfast::face
