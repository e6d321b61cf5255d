// Typed calls of the plain lock's transitions (docs/wire.md section 2). What their replies mean stands in calls.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/calls.hpp"
#include "wire/renewal.hpp"

namespace holdfast::wire::lock {

/// The channel is the one on which Redisson tells of a release.
LockNames names(std::string raw_name);

base::Command acquire(const AcquireCall& call);
base::Command release(const ReleaseCall& call);
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

base::Command count_fields(std::string_view key);                   ///< HLEN: WRONGTYPE shows, unlike with EXISTS
base::Command has_owner(std::string_view key, const Owner& owner);  ///< HEXISTS
base::Command fields(std::string_view key);                         ///< HGETALL: for those with one field
/// Who has it: a script, since plain commands do not tell what is no lock. An error then.
base::Command holder(std::string_view key);
/// Of either. Nobody, if the reply is no owner's form with a count.
Held decode_holder(const base::Reply& reply);

}  // namespace holdfast::wire::lock
