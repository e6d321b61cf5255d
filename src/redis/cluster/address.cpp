#include "redis/cluster/address.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::redis::cluster {

std::optional<NodeAddress> told_address(std::string_view host, std::int64_t port, const NodeAddress& asked) {
  if (port <= 0 || port > std::numeric_limits<std::uint16_t>::max()) return {};
  const auto odd = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || std::string_view("[]/@?#,\x7f").find(c) != std::string_view::npos;
  };
  if (host.empty()) host = asked.host;
  if (host.empty() || host.size() > kLongestHost || std::ranges::any_of(host, odd)) return {};
  return NodeAddress{std::string(host), static_cast<std::uint16_t>(port)};
}

}  // namespace holdfast::redis::cluster
