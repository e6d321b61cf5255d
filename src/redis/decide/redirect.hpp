// SPDX-License-Identifier: Apache-2.0
// Where else to send what a cluster's node does not serve: redirects to another node, addresses as nodes report them,
// and scripts whose keys are not all at one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"

namespace holdfast::redis::cluster {

/// `asked` is the reporting node: its host is used if none is given. Empty: cannot be connected to (no such port, the
/// unknown host `?`, neither a name nor an address).
std::optional<NodeAddress> told_address(std::string_view host, std::int64_t port, const NodeAddress& asked);

struct AddressHash {
  std::size_t operator()(const NodeAddress& address) const {
    return std::hash<std::string>{}(address.host) ^ (address.port * std::size_t{0x9E3779B1});
  }
};

struct Redirect {
  enum class Kind : std::uint8_t {
    moved,  ///< `MOVED slot address`: that node has the slot from now on.
    ask,    ///< `ASK slot address`: the slot is moving to that node; this one command goes there, after an ASKING.
  };
  Kind kind = Kind::moved;
  std::uint16_t slot = 0;
  NodeAddress to;
};

/// Empty: another error, or invalid (no such slot, no port, an endpoint `?`). `asked` is the node that replied: its
/// host is used if none is given. IPv6 addresses come without brackets, so the port is after the last colon. An error
/// that is wrapped, or followed by more text, comes from inside a script, which may have written already: it is not a
/// redirect.
std::optional<Redirect> read_redirect(std::string_view error_text, const NodeAddress& asked);

// A script whose keys are not all at one node, since their slot moves to another one: where they are, and what can be
// sent instead.

/// True if a script with several keys was refused because not all of them are there: TRYAGAIN. It says the same of keys
/// that are nowhere.
bool are_apart(const base::Command& command, const base::Reply& reply);

/// For each key of that script, what the node that the slot comes from says of it alone.
std::vector<base::Command> ask_for_keys(const base::Command& command);

struct Whereabouts {
  enum class Kind {
    together,  // the slot does not move any more
    left,  // none is where the slot comes from: they are at `next`, or nowhere. Nothing comes back, so that stays true
    apart,
    unknown,
  };
  Kind kind = Kind::unknown;
  NodeAddress next{};
};
/// From the replies to that. `asked`: the node that gave them.
Whereabouts read_whereabouts(const std::vector<base::Reply>& replies, const NodeAddress& asked);

/// The same script, which names its first key only to the server, and so is not refused; of one with several keys.
base::Command of_first_key(const base::Command& command);

}  // namespace holdfast::redis::cluster
