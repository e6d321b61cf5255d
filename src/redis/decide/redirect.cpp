// SPDX-License-Identifier: Apache-2.0
#include "redis/decide/redirect.hpp"

#include <limits>
#include <string>

#include "base/text.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::redis::cluster {
namespace {

/// Removes and returns the text up to the next space, and removes that space.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size() == rest.size() ? word.size() : word.size() + 1);
  return word;
}

/// 0: it is no script.
std::ptrdiff_t keys_of(const base::Command& command) {
  if (command.script == nullptr || command.args.empty()) return 0;
  const auto keys = base::to_number<std::ptrdiff_t>(command.args.front()).value_or(0);
  return keys < std::ssize(command.args) ? keys : 0;
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

bool are_apart(const base::Command& command, const base::Reply& reply) {
  return reply.is_error() && reply.text.starts_with("TRYAGAIN") && keys_of(command) > 1;
}

std::vector<base::Command> ask_for_keys(const base::Command& command) {
  std::vector<base::Command> questions;
  for (std::ptrdiff_t i = 1; i <= keys_of(command); ++i) {
    questions.push_back({{"PTTL", command.args[static_cast<std::size_t>(i)]}});
  }
  return questions;
}

Whereabouts read_whereabouts(const std::vector<base::Reply>& replies, const NodeAddress& asked) {
  Whereabouts seen;
  std::ptrdiff_t left = 0;
  for (const base::Reply& reply : replies) {
    if (reply.is_integer()) continue;
    const auto redirect = reply.is_error() ? read_redirect(reply.text, asked) : std::nullopt;
    if (!redirect || redirect->kind != Redirect::Kind::ask) return {};
    seen.next = redirect->to;
    ++left;
  }
  using Kind = Whereabouts::Kind;
  seen.kind = left == 0 ? Kind::together : left == std::ssize(replies) ? Kind::left : Kind::apart;
  return seen;
}

base::Command of_first_key(const base::Command& command) {
  const auto end = command.args.begin() + 1 + keys_of(command);
  base::Command form{{"1", command.args.at(1)}, command.script->of_first_key};
  form.args.insert(form.args.end(), end, command.args.end());
  form.args.insert(form.args.end(), command.args.begin() + 2, end);
  form.args.push_back(std::to_string(keys_of(command) - 1));
  return form;
}

}  // namespace holdfast::redis::cluster
