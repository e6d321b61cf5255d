// What a node says when another one is to be asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/config.hpp>

namespace holdfast::redis::cluster {

struct Redirect {
  enum class Kind : std::uint8_t {
    moved,  ///< `MOVED slot address`: that node has the slot from now on.
    ask,    ///< `ASK slot address`: the slot is under way to that node; this one command goes there, behind an ASKING.
  };
  Kind kind = Kind::moved;
  std::uint16_t slot = 0;
  NodeAddress to;
};

/// Empty: it is another error, or makes no sense (a slot that there is not, no port, an endpoint `?`). `asked` is who
/// says so: its host counts where none is told. Addresses of IPv6 come without brackets, so the port is behind the last
/// colon. What is wrapped or has anything behind it comes from within a script, which has perhaps written before: it is
/// no redirect.
std::optional<Redirect> read_redirect(std::string_view error_text, const NodeAddress& asked);

}  // namespace holdfast::redis::cluster
