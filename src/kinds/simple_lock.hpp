// SPDX-License-Identifier: Apache-2.0
// Typed calls of the SET NX PX family's transitions (docs/wire.md section 2). Their replies have the form of the plain
// lock's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinds/calls.hpp"

namespace holdfast::wire::simple {

/// The family has no channel; Holdfast's clients use this one among themselves.
LockNames names(std::string raw_name);

base::Command acquire(const AcquireCall& call);  ///< Never counts listeners.
base::Command release(const ReleaseCall& call);
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

base::Command holder(std::string_view key);  ///< GET
/// The value is the owner, in any form.
Held decode_holder(const base::Reply& reply);

}  // namespace holdfast::wire::simple
