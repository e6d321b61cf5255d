// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_memory.hpp"

#include <algorithm>

namespace holdfast::cli {
namespace {

/// The end of the part of a pattern that stands for one character, if it stands for this one; otherwise npos.
std::size_t after_one(std::string_view pattern, std::size_t at, char c) {
  const auto escaped = [&](std::size_t i) { return pattern[i] == '\\' && i + 1 < pattern.size(); };
  if (pattern[at] == '?') return at + 1;
  if (pattern[at] != '[') {
    if (escaped(at)) ++at;
    return pattern[at] == c ? at + 1 : pattern.npos;
  }
  const bool others = at + 1 < pattern.size() && pattern[at + 1] == '^';
  bool among = false;
  std::size_t i = at + (others ? 2 : 1);
  for (; i < pattern.size() && pattern[i] != ']'; ++i) {
    if (escaped(i)) {
      among = among || pattern[++i] == c;
    } else if (i + 2 < pattern.size() && pattern[i + 1] == '-') {
      const auto [low, high] =
          std::minmax({static_cast<unsigned char>(pattern[i]), static_cast<unsigned char>(pattern[i + 2])});
      among = among || (static_cast<unsigned char>(c) >= low && static_cast<unsigned char>(c) <= high);
      i += 2;
    } else {
      among = among || pattern[i] == c;
    }
  }
  return among != others ? std::min(i + 1, pattern.size()) : pattern.npos;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t i = 0;
  std::size_t star = pattern.npos;  // the latest, which has taken the name up to `taken`
  std::size_t taken = 0;
  while (i < name.size() || at < pattern.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
      continue;
    }
    const bool both = at < pattern.size() && i < name.size();
    const std::size_t after = both ? after_one(pattern, at, name[i]) : pattern.npos;
    if (after != pattern.npos) {
      at = after;
      ++i;
    } else if (star != pattern.npos && taken < name.size()) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return true;
}

std::string beginning_of(std::string_view pattern) {
  return std::string(pattern.substr(0, pattern.find_first_of("*?[\\")));
}

WatchMemory::Holders WatchMemory::holders_of(const FoundLock& found, const Look& look) {
  Holders holders;
  for (const LockHolder& each : found.lock.holders) {
    Held held{each};
    if (each.remaining) held.end = look.asked + *each.remaining;
    holders.insert_or_assign({each.owner, each.mode}, std::move(held));
  }
  return holders;
}

void WatchMemory::compare(std::vector<WatchEvent>& events, const std::string& name, const FoundLock* found,
                          const Look& look) {
  Holders now = found != nullptr ? holders_of(*found, look) : Holders();
  const auto known = locks_.find(name);
  static const Known kFree;
  const Known& before = known != locks_.end() ? known->second : kFree;
  std::vector<const Held*> gone;
  std::vector<const Held*> come;
  for (const auto& [who, held] : before.holders) {
    if (!now.contains(who)) gone.push_back(&held);
  }
  for (auto& [who, held] : now) {
    const auto same = before.holders.find(who);
    if (same == before.holders.end()) {
      come.push_back(&held);
    } else {
      held.holder.holder = same->second.holder.holder;  // a look at times only does not say who it is
    }
  }
  using What = WatchEvent::What;
  const auto tell = [&](What what, LockKind kind, const LockHolder& holder, const LockHolder* earlier = nullptr) {
    events.push_back(
        {what, kind, name, holder, earlier != nullptr ? std::optional(*earlier) : std::nullopt, look.told, look.late});
  };
  const auto alone = [](const Held* held) { return held->holder.mode == LockHolder::Mode::exclusive; };
  if (std::max(now.size(), before.holders.size()) >= kMostHolders) {
    // It names some of them only.
  } else if (gone.size() == 1 && come.size() == 1 && alone(gone.front()) && alone(come.front())) {
    tell(What::changed, found->kind, come.front()->holder, &gone.front()->holder);
  } else {
    for (const Held* held : gone) {
      const bool in_time = !held->end || look.told < *held->end;
      tell(look.late ? What::ended : in_time ? What::released : What::expired, before.kind, held->holder);
    }
    for (const Held* held : come) tell(begun_ ? What::taken : What::held, found->kind, held->holder);
  }
  keep(name, found, std::move(now));
}

void WatchMemory::keep(const std::string& name, const FoundLock* found, Holders now) {
  const auto known = locks_.find(name);
  if (known != locks_.end() && known->second.end) ends_.erase({*known->second.end, known->first});
  if (now.empty()) {
    if (known != locks_.end()) locks_.erase(known);
    return;
  }
  Known kept{found->kind, std::move(now)};
  for (const auto& [who, held] : kept.holders) {
    if (held.end && (!kept.end || *held.end < *kept.end)) kept.end = held.end;
  }
  const auto at = locks_.insert_or_assign(known, name, std::move(kept));
  if (at->second.end) ends_.emplace(*at->second.end, at->first);
}

std::vector<WatchEvent> WatchMemory::take(const std::string& name, const FoundLock* found, const Look& look) {
  std::vector<WatchEvent> events;
  compare(events, name, found, look);
  return events;
}

std::vector<WatchEvent> WatchMemory::take_all(const std::vector<FoundLock>& found, const Look& look,
                                              const std::function<bool(const std::string&)>& apart) {
  std::map<std::string_view, const FoundLock*> all;
  for (const FoundLock& each : found) all.insert_or_assign(each.lock.name, &each);
  std::vector<WatchEvent> events;
  std::vector<std::string> gone;
  for (const auto& [name, lock] : locks_) {
    if (!all.contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) {
    if (!apart(name)) compare(events, name, nullptr, look);
  }
  for (const auto& [name, lock] : all) {
    if (!begun_ || !apart(lock->lock.name)) compare(events, lock->lock.name, lock, look);
  }
  begun_ = true;
  return events;
}

bool WatchMemory::knows(const FoundLock& found) const {
  const auto known = locks_.find(found.lock.name);
  return known != locks_.end() && std::ranges::all_of(found.lock.holders, [&](const LockHolder& each) {
           return known->second.holders.contains({each.owner, each.mode});
         });
}

std::optional<base::TimePoint> WatchMemory::next_end() const {
  return ends_.empty() ? std::nullopt : std::optional(ends_.begin()->first);
}

std::vector<std::string> WatchMemory::ended_by(base::TimePoint time) const {
  std::vector<std::string> names;
  for (auto it = ends_.begin(); it != ends_.end() && it->first <= time; ++it) names.emplace_back(it->second);
  return names;
}

}  // namespace holdfast::cli
