// Addresses as nodes of a cluster tell them.
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

}  // namespace holdfast::redis::cluster
