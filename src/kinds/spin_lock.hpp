// SPDX-License-Identifier: Apache-2.0
// Typed calls of the spin lock's transitions (docs/wire.md section 2): the plain lock's, without publishing.
#pragma once

#include <optional>

#include "kinds/calls.hpp"

namespace holdfast::wire::spin {

/// For one lock. The reply is read by wire::decode_release, with 0 clients notified.
base::Command release(const ReleaseCall& call);
/// From this owner; without one, from any owner. The reply: 1, or 0 if it was not held.
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);

}  // namespace holdfast::wire::spin
