// SPDX-License-Identifier: Apache-2.0
// What a holder changes while it has the lock: the length of a fixed lease, and a writer's mode.
#pragma once

#include <functional>
#include <string>
#include <system_error>

#include "lock/decide/lease.hpp"

namespace holdfast::engine {

class Claim;

/// How a change has ended. Empty: it is made. Else `lost`, `unknown_outcome`, `closed`, `forked` or `exhausted`.
struct Changed {
  std::error_code error;
  std::string cause{};
};
/// One renewal of a fixed lease, to this length from now on. Waits for the answer, `command_timeout` at most.
/// `unknown_outcome`: no answer came, the lease is the shorter of both.
Changed extend(Claim& claim, milliseconds lease);
/// The same without waiting. `done` is called once, on the loop; at once, in the caller, if the client is closed.
void extend_async(Claim& claim, milliseconds lease, std::function<void(Changed)> done);

/// A writer becomes a reader, without a moment in which somebody else could have it alone. Waits for the server's
/// answer, as long as the claim is valid at most. `unknown_outcome`: the server has not answered, and the claim is what
/// it was, or lost with its next renewal. A guest's caller does not wait: `unknown_outcome`, and it goes on.
Changed share(Claim& claim) noexcept;
/// The same without waiting. `done` is called once, on the loop.
void share_async(Claim& claim, std::function<void(Changed)> done);

}  // namespace holdfast::engine
