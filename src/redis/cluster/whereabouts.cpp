#include "redis/cluster/whereabouts.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "redis/cluster/redirect.hpp"

namespace holdfast::redis::cluster {
namespace {

/// 0: it is no script.
std::ptrdiff_t keys_of(const base::Command& command) {
  if (command.script == nullptr || command.args.empty()) return 0;
  const auto keys = base::to_number<std::ptrdiff_t>(command.args.front()).value_or(0);
  return keys < std::ssize(command.args) ? keys : 0;
}

}  // namespace

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
