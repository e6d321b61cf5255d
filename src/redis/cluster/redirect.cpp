#include "redis/cluster/redirect.hpp"

#include <limits>

#include "base/text.hpp"
#include "redis/cluster/slot.hpp"

namespace holdfast::redis::cluster {
namespace {

/// Removes and returns the text up to the next space, and removes that space.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size() == rest.size() ? word.size() : word.size() + 1);
  return word;
}

}  // namespace

std::optional<NodeAddress> told_address(std::string_view host, std::int64_t port, const NodeAddress& asked) {
  if (port <= 0 || port > std::numeric_limits<std::uint16_t>::max()) return {};
  if (host.empty()) host = asked.host;
  if (!base::can_be_host(host)) return {};
  return NodeAddress{std::string(host), static_cast<std::uint16_t>(port)};
}

std::optional<Redirect> read_redirect(std::string_view error_text, const NodeAddress& asked) {
  const std::string_view code = take_word(error_text);
  if (code != "MOVED" && code != "ASK") return {};
  const auto slot = base::to_number<std::uint16_t>(take_word(error_text));
  const std::size_t colon = error_text.rfind(':');
  if (!slot || *slot >= kSlots || colon == error_text.npos) return {};
  const auto port = base::to_number<std::uint16_t>(error_text.substr(colon + 1));
  if (!port) return {};
  auto to = told_address(error_text.substr(0, colon), *port, asked);
  if (!to) return {};
  return Redirect{code == "ASK" ? Redirect::Kind::ask : Redirect::Kind::moved, *slot, *std::move(to)};
}

}  // namespace holdfast::redis::cluster
