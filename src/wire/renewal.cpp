#include "wire/renewal.hpp"

#include <utility>

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

namespace {

void begin_untold(std::vector<base::Command>& to) {
  to.push_back({{"MULTI"}});
  to.push_back({{"CLIENT", "TRACKING", "OFF"}});
}

}  // namespace

void add_untold(std::vector<base::Command>& to, base::Command renewal, std::vector<std::string> keys) {
  begin_untold(to);
  to.push_back(std::move(renewal));
  to.push_back({{"CLIENT", "TRACKING", "ON"}});
  keys.insert(keys.begin(), "EXISTS");
  to.push_back({std::move(keys)});
  to.push_back({{"EXEC"}});
}

void add_untold_trial(std::vector<base::Command>& to) {
  begin_untold(to);
  to.push_back({{"CLIENT", "TRACKING", "ON"}});
  to.push_back({{"EXEC"}});
}

const base::Reply* untold_reply(std::span<const base::Reply> replies) {
  const base::Reply& all = replies.back();
  if (!all.is_array() || all.elements.size() + 2 != replies.size()) return nullptr;
  return &all.elements[1];
}

}  // namespace holdfast::wire
