// Any one of several plain locks: what is sent, and what the replies mean (docs/wire.md section 2).
#pragma once

#include "wire/calls.hpp"

namespace holdfast::wire::any {

/// Whichever is free first in the order given.
base::Command acquire(const AcquireCall& call);
/// Granted: `Grant::which` says which.
AcquireReply decode_acquire(const base::Reply& reply);
/// Whichever this owner has.
base::Command release(const ReleaseCall& call);

}  // namespace holdfast::wire::any
