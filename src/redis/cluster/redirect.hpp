// Redirects to another node, and addresses as cluster nodes report them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/config.hpp>

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

}  // namespace holdfast::redis::cluster
