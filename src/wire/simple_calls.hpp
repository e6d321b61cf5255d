// Typed calls of the SET NX PX family's transitions. Replies read as the lock's do: see lock_calls.hpp.
#pragma once

#include "wire/lock_calls.hpp"

namespace holdfast::wire::simple {

LockNames names(std::string raw_name);

base::Command acquire(const LockNames& names, const Owner& owner, std::chrono::milliseconds lease);
base::Command acquire_all(std::span<const LockNames> names, const Owner& owner, std::chrono::milliseconds lease);
base::Command release(const LockNames& names, const Owner& owner);
base::Command release_all(std::span<const LockNames> names, const Owner& owner);
base::Command force_release(const LockNames& names);
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

base::Command length(std::string_view key);  ///< STRLEN: WRONGTYPE shows, unlike with EXISTS
base::Command holder(std::string_view key);  ///< GET
/// The value is the owner, whatever its shape.
Held decode_holder(const base::Reply& reply);

}  // namespace holdfast::wire::simple
