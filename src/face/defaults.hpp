// The options that a call leaves out.
#pragma once

#include <holdfast/options.hpp>

namespace holdfast::face {

/// True: they say nothing.
bool are_empty(const AcquireOptions& options);

/// What these leave out is as the defaults have it.
AcquireOptions with_defaults(AcquireOptions options, const AcquireOptions& defaults);

}  // namespace holdfast::face
