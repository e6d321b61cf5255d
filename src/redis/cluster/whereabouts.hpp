// A script whose keys are not all at one node, since their slot moves to another one: where they are, and what can be
// sent instead.
#pragma once

#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"

namespace holdfast::redis::cluster {

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
