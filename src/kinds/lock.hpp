// SPDX-License-Identifier: Apache-2.0
// Typed calls of the plain lock's transitions (docs/wire.md section 2). Their replies are described in calls.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinds/calls.hpp"

namespace holdfast::wire::lock {

/// The channel on which Redisson publishes releases.
LockNames names(std::string raw_name);

base::Command acquire(const AcquireCall& call);
base::Command release(const ReleaseCall& call);
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

base::Command count_fields(std::string_view key);                   ///< HLEN: WRONGTYPE shows, unlike with EXISTS
base::Command has_owner(std::string_view key, const Owner& owner);  ///< HEXISTS
base::Command fields(std::string_view key);                         ///< HGETALL: for those with one field
/// Who has it: a script, since plain commands cannot recognise things that are not locks. For those it is an error.
base::Command holder(std::string_view key);
/// For both. Nobody, if the reply does not have the form of an owner with a count.
Held decode_holder(const base::Reply& reply);

}  // namespace holdfast::wire::lock
