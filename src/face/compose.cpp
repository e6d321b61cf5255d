// SPDX-License-Identifier: Apache-2.0
// MultiLock and RedLock: targets composed of other locks' targets.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <holdfast/error.hpp>
#include <holdfast/lock.hpp>

#include "base/text.hpp"
#include "face/parts.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/quorum_target.hpp"
#include "lock/targets/targets.hpp"

namespace holdfast {
namespace {

using engine::Member;
using engine::Members;

[[noreturn]] void refuse(const std::string& why) { throw Error(Errc::invalid_argument, {}, {}, why); }

std::string title_of(const std::vector<Member>& members) {
  std::string title;
  for (const Member& member : members) title += (title.empty() ? "" : ", ") + member.target->name();
  return title;
}

/// All of these single locks, each once. Throws Error(invalid_argument) if there is none, or for defaults out of range.
detail::PartsPtr all_of(const std::vector<detail::PartsPtr>& members, LockOptions defaults) {
  if (members.empty()) refuse("a MultiLock needs at least one lock");
  struct Share {
    engine::Targets* targets = nullptr;
    std::set<std::string> names{};
  };
  // One command takes all locks of one slot; for a client of a single server that is all its locks.
  std::map<std::pair<std::shared_ptr<engine::Runtime>, std::uint16_t>, Share> shares;
  for (const detail::PartsPtr& member : members) {
    const engine::KeyTarget& target = face::key_target(*member);
    Share& share = shares[{member->runtime, target.slot()}];
    share.targets = &target.targets();
    share.names.insert(target.name());
  }
  const engine::Plan& plan = members.front()->target->plan();
  std::vector<Member> parts;
  for (const auto& [place, share] : shares) {
    const std::shared_ptr<engine::Runtime>& runtime = place.first;
    runtime->require_usable(*share.names.begin());
    parts.push_back({runtime, share.targets->target({share.names.begin(), share.names.end()}, plan)});
  }
  if (parts.size() == 1) return face::make_parts(parts.front().runtime, parts.front().target, std::move(defaults));
  // The same order in every process, so that one of two groups with common members gets them all.
  std::ranges::sort(parts, {}, [](const Member& part) {
    return std::tuple(part.runtime->node(), part.target->slot(), part.target->name());
  });
  std::string title = title_of(parts);
  const std::size_t needed = parts.size();
  const std::shared_ptr<engine::Runtime> first = parts.front().runtime;
  return face::make_parts(first, engine::make_group(std::move(title), std::move(parts), needed, Members::Servers::any),
                          std::move(defaults));
}

/// A majority of these, each of a client of its own. Throws Error(invalid_argument).
detail::PartsPtr majority_of(const std::vector<detail::PartsPtr>& members, LockOptions defaults) {
  if (members.empty()) refuse("a RedLock needs at least one server");
  std::vector<Member> parts;
  std::set<std::shared_ptr<engine::Runtime>> seen;
  for (const detail::PartsPtr& member : members) {
    const std::shared_ptr<engine::Runtime>& runtime = member->runtime;
    if (runtime->in_child()) runtime->require_usable(member->target->name());
    auto target = std::dynamic_pointer_cast<engine::KeyTarget>(member->target);
    if (!target)
      refuse("a RedLock of " + base::quote(member->target->name()) +
             ", whose locks are on several servers, or in several slots of a cluster");
    if (!seen.insert(runtime).second) {
      refuse("a RedLock with two locks of one client (" + runtime->node() + "): each server needs its own");
    }
    parts.push_back({runtime, std::move(target)});
  }
  std::string title = parts.front().target->name();
  const auto differs = [&](const Member& part) { return part.target->name() != title; };
  if (std::ranges::any_of(parts, differs)) title = title_of(parts);
  const std::size_t needed = engine::Quorum::majority(parts.size()).needed;
  const std::shared_ptr<engine::Runtime> first = parts.front().runtime;
  return face::make_parts(first,
                          engine::make_group(std::move(title), std::move(parts), needed, Members::Servers::different),
                          std::move(defaults));
}

}  // namespace

MultiLock::MultiLock(const std::vector<Lock>& members, LockOptions defaults)
    : LockHandle(all_of(parts_of(members), std::move(defaults))) {}

MultiLock::MultiLock(const std::vector<SimpleLock>& members, LockOptions defaults)
    : LockHandle(all_of(parts_of(members), std::move(defaults))) {}

RedLock::RedLock(const std::vector<Lock>& members, LockOptions defaults)
    : LockHandle(majority_of(parts_of(members), std::move(defaults))) {}

RedLock::RedLock(const std::vector<SimpleLock>& members, LockOptions defaults)
    : LockHandle(majority_of(parts_of(members), std::move(defaults))) {}

RedLock::RedLock(const std::vector<MultiLock>& members, LockOptions defaults)
    : LockHandle(majority_of(parts_of(members), std::move(defaults))) {}

}  // namespace holdfast
