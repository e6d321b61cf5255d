// A fixed lease that is made longer, or shorter, by its holder's hand.
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

}  // namespace holdfast::engine
