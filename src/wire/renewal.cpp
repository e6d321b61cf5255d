#include "wire/renewal.hpp"

namespace holdfast::wire {

base::Command renew(const base::Script& script, const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
  base::Command command{{}, &script};
  command.args.reserve(2 + 2 * renewals.size());
  command.args.push_back(std::to_string(renewals.size()));
  for (const Renewal& renewal : renewals) command.args.push_back(renewal.key);
  command.args.push_back(std::to_string(lease.count()));
  for (const Renewal& renewal : renewals) command.args.push_back(renewal.owner);
  return command;
}

std::vector<bool> decode_renew(const base::Reply& reply, std::size_t asked) {
  if (!reply.is_array()) return {};
  std::vector<bool> extended(asked, true);
  for (const base::Reply& lost : reply.elements) {
    if (!lost.is_integer() || lost.integer < 1 || static_cast<std::size_t>(lost.integer) > asked) return {};
    extended[static_cast<std::size_t>(lost.integer) - 1] = false;
  }
  return extended;
}

}  // namespace holdfast::wire
