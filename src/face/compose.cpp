#include "face/compose.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <holdfast/error.hpp>

#include "base/text.hpp"
#include "engine/hold/group.hpp"
#include "engine/hold/sites.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::face {
namespace {

using engine::Group;

[[noreturn]] void refuse(const std::string& why) { throw Error(Errc::invalid_argument, {}, {}, why); }

std::string title_of(const std::vector<Group::Member>& members) {
  std::string title;
  for (const Group::Member& member : members) title += (title.empty() ? "" : ", ") + member.site->name();
  return title;
}

}  // namespace

detail::Parts all_of(const std::vector<detail::Parts>& members) {
  if (members.empty()) refuse("a MultiLock of no lock");
  struct Share {
    engine::Sites* sites = nullptr;
    std::set<std::string> names{};
  };
  std::map<std::shared_ptr<engine::Runtime>, Share> shares;
  for (const detail::Parts& member : members) {
    Share& share = shares[member.runtime];
    share.sites = &static_cast<const engine::Site&>(*member.target).sites();
    share.names.insert(member.target->name());
  }
  const engine::Plan& plan = members.front().target->plan();
  std::vector<Group::Member> parts;
  for (const auto& [runtime, share] : shares) {
    runtime->require_usable(*share.names.begin());
    parts.push_back({runtime, share.sites->site({share.names.begin(), share.names.end()}, plan)});
  }
  if (parts.size() == 1) return {parts.front().runtime, parts.front().site};
  // The same order in every process, so that of two groups with common members one gets all.
  std::ranges::sort(parts, {},
                    [](const Group::Member& part) { return std::pair(part.runtime->node(), part.site->name()); });
  std::string title = title_of(parts);
  const std::size_t needed = parts.size();
  const std::shared_ptr<engine::Runtime> first = parts.front().runtime;
  return {first, Group::make(std::move(title), std::move(parts), needed, Group::Servers::any)};
}

detail::Parts majority_of(const std::vector<detail::Parts>& members) {
  if (members.empty()) refuse("a RedLock of no server");
  std::vector<Group::Member> parts;
  std::set<std::shared_ptr<engine::Runtime>> seen;
  for (const detail::Parts& member : members) {
    if (member.runtime->in_child()) member.runtime->require_usable(member.target->name());
    auto site = std::dynamic_pointer_cast<engine::Site>(member.target);
    if (!site) refuse("a RedLock of " + base::quote(member.target->name()) + ", which is on several servers itself");
    if (!seen.insert(member.runtime).second) {
      refuse("a RedLock with two locks of one client (" + member.runtime->node() + "): each server needs its own");
    }
    parts.push_back({member.runtime, std::move(site)});
  }
  std::string title = parts.front().site->name();
  const auto differs = [&](const Group::Member& part) { return part.site->name() != title; };
  if (std::ranges::any_of(parts, differs)) title = title_of(parts);
  const std::size_t needed = engine::Quorum::majority(parts.size()).needed;
  const std::shared_ptr<engine::Runtime> first = parts.front().runtime;
  return {first, Group::make(std::move(title), std::move(parts), needed, Group::Servers::different)};
}

}  // namespace holdfast::face
