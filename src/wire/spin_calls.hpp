// Typed calls of the spin lock's transitions (docs/wire.md section 2): the plain lock's, of which nobody is told.
#pragma once

#include <optional>

#include "wire/calls.hpp"

namespace holdfast::wire::spin {

/// Of one lock. The reply is read by wire::decode_release: nobody was told.
base::Command release(const ReleaseCall& call);
/// From this owner; without one, from whoever has it. The reply: 1, or 0 if that was nobody.
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);

}  // namespace holdfast::wire::spin
