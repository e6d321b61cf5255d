// Defaults for the options that a call leaves out.
#pragma once

#include <holdfast/options.hpp>

namespace holdfast::face {

/// True: no option is set.
bool are_empty(const AcquireOptions& options);

/// Fills in the options that are left out from the defaults.
AcquireOptions with_defaults(AcquireOptions options, const AcquireOptions& defaults);

}  // namespace holdfast::face
