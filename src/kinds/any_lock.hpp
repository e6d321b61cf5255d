// SPDX-License-Identifier: Apache-2.0
// Any one of several plain locks: its commands, and what the replies mean (docs/wire.md section 2).
#pragma once

#include "kinds/calls.hpp"

namespace holdfast::wire::any {

/// Takes the first free one, in the order given.
base::Command acquire(const AcquireCall& call);
/// Granted: `Grant::which` says which.
AcquireReply decode_acquire(const base::Reply& reply);
/// Releases the one that this owner has.
base::Command release(const ReleaseCall& call);

}  // namespace holdfast::wire::any
