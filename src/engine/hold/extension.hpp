// A fixed lease that is made longer, or shorter, by its holder's hand.
#pragma once

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

}  // namespace holdfast::engine
