// What a holder changes while it has the lock: the length of a fixed lease, and a writer's mode.
#pragma once

#include <functional>
#include <string>
#include <system_error>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

class Claim;

/// Empty: extended. Else `lost`; `unknown_outcome`: no answer came, the lease is the shorter of both; `closed`;
/// `forked`.
struct Extension {
  std::error_code error;
  std::string cause{};
};
/// One renewal of a fixed lease, to this length from now on. Waits for the answer, `command_timeout` at most.
Extension extend(Claim& claim, milliseconds lease);
/// The same without waiting. `done` is called once, on the loop; at once, in the caller, if the client is closed.
void extend_async(Claim& claim, milliseconds lease, std::function<void(Extension)> done);

/// A writer becomes a reader, without a moment in which somebody else could have it alone. Waits for the server's
/// answer, as long as the claim is valid at most. Empty: it is shared. Else `lost`; `unknown_outcome`: the server has
/// not answered, and the claim is what it was, or lost with its next renewal; `closed` or `forked`. A guest's caller
/// does not wait: `unknown_outcome`, and it goes on.
std::error_code share(Claim& claim) noexcept;
/// The same without waiting. `done` is called once, on the loop.
void share_async(Claim& claim, std::function<void(std::error_code)> done);

}  // namespace holdfast::engine
