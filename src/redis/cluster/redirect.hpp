// What a node says when another one is to be asked, and addresses as nodes of a cluster tell them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/config.hpp>

namespace holdfast::redis::cluster {

/// As far as a name reaches in DNS, with room for an address of IPv6 and its zone.
constexpr std::size_t kLongestHost = 255;

/// `asked` is who tells it: its host counts where none is told. Empty: nobody can connect to that (no such port, the
/// unknown host `?`, what is neither a name nor an address).
std::optional<NodeAddress> told_address(std::string_view host, std::int64_t port, const NodeAddress& asked);

struct AddressHash {
  std::size_t operator()(const NodeAddress& address) const {
    return std::hash<std::string>{}(address.host) ^ (address.port * std::size_t{0x9E3779B1});
  }
};

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
