// SPDX-License-Identifier: Apache-2.0
#include "cli/kinds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "cli/console.hpp"
#include "face/inquiry/key_news.hpp"

namespace holdfast::cli {
namespace {

template <auto Make>
KeyLock made(const Client& client, const std::string& name) {
  return (client.*Make)(name, {});
}

KeyLock writer_of(const Client& client, const std::string& name) { return client.read_write_lock(name).writer(); }

KeyLock reader_of(const Client& client, const std::string& name) { return client.read_write_lock(name).reader(); }

constexpr const char* kNoToken = "run: --kind fenced is for one name on one server: several have no token in common";
constexpr const char* kNoQueue = "run: --fair is for one name on one server: several have no queue in common";
constexpr const char* kNoSpin = "run: --kind spin is for one name on one server";
constexpr const char* kNoReaders = "run: --shared and --kind read-write are for one name on one server";
constexpr const char* kNoPermits = "run: --max is for one name on one server";

constexpr std::array kKinds{
    KindRow{LockKind::lock, "lock", KeyForm::locks, made<&Client::lock>},
    KindRow{LockKind::fenced, "fenced", KeyForm::locks, made<&Client::fenced_lock>, kNoToken},
    KindRow{LockKind::fair, "fair", KeyForm::locks, made<&Client::fair_lock>, kNoQueue},
    KindRow{LockKind::simple, "simple", KeyForm::simple_locks, made<&Client::simple_lock>},
    KindRow{LockKind::spin, "spin", KeyForm::locks, made<&Client::spin_lock>, kNoSpin},
    KindRow{LockKind::write, "read-write", KeyForm::read_write_locks, writer_of, kNoReaders},
    KindRow{LockKind::read, "read-write", KeyForm::read_write_locks, reader_of, kNoReaders},
    KindRow{LockKind::permit, "permit", KeyForm::leased_semaphores, made<&Client::leased_semaphore>, kNoPermits},
    KindRow{LockKind::semaphore, "semaphore", KeyForm::semaphores},
    KindRow{LockKind::latch, "latch", KeyForm::latches},
};

/// KeyForm::any.
constexpr std::array kByType{LockKind::lock, LockKind::write, LockKind::permit};

/// What to list to find all of these kinds: those that are found by their type together.
std::vector<KeyForm> forms_of(const std::vector<LockKind>& kinds) {
  std::vector<KeyForm> forms;
  const auto add = [&](KeyForm form) {
    if (std::ranges::find(forms, form) == forms.end()) forms.push_back(form);
  };
  const bool any =
      std::ranges::all_of(kByType, [&](LockKind each) { return std::ranges::find(kinds, each) != kinds.end(); });
  for (const LockKind kind : kinds) {
    add(any && std::ranges::find(kByType, kind) != kByType.end() ? KeyForm::any : row_of(kind).listed);
  }
  return forms;
}

/// Most strings with an expiry are somebody's cache.
bool is_no_lock(const LockInfo& string, const std::string& pattern) {
  const bool by_name = pattern.find_first_of("*?[\\") == pattern.npos;
  return !by_name && (!string.holder || string.holder->kind == Holder::Kind::other);
}

/// By name. `list` says what there is of a form.
template <class List>
std::vector<FoundLock> found_by(const std::string& pattern, const std::vector<LockKind>& kinds, List list) {
  std::vector<FoundLock> found;
  for (const KeyForm form : forms_of(kinds)) {
    for (LockInfo& lock : list(form)) {
      const LockKind kind = *std::ranges::find(kinds, lock.form, [](LockKind each) { return row_of(each).listed; });
      if (kind == LockKind::simple && kinds.size() > 1 && is_no_lock(lock, pattern)) continue;
      found.push_back({kind, std::move(lock)});
    }
  }
  std::ranges::stable_sort(found, {}, [](const FoundLock& each) -> const std::string& { return each.lock.name; });
  return found;
}

bool is_for(const KindRow& row, KindsFor use) { return use == KindsFor::looking || !is_number(row.kind); }

}  // namespace

const KindRow& row_of(LockKind kind) { return *std::ranges::find(kKinds, kind, &KindRow::kind); }

std::optional<LockKind> kind_named(std::string_view name, KindsFor use) {
  const auto found =
      std::ranges::find_if(kKinds, [&](const KindRow& row) { return row.name == name && is_for(row, use); });
  return found == kKinds.end() ? std::nullopt : std::optional(found->kind);
}

std::vector<LockKind> kinds_for(const std::string& pattern) {
  const bool all_strings = pattern.find_first_not_of('*') == pattern.npos;
  return all_strings ? std::vector(kByType.begin(), kByType.end()) : kinds_named("all").value();
}

std::optional<std::vector<LockKind>> kinds_named(std::string_view names) {
  if (names == "all") return std::vector{LockKind::lock, LockKind::write, LockKind::permit, LockKind::simple};
  std::vector<LockKind> kinds;
  for (bool more = true; more;) {
    const std::size_t comma = names.find(',');
    const std::optional<LockKind> kind = kind_named(names.substr(0, comma), KindsFor::looking);
    if (!kind) return std::nullopt;
    const auto looks_the_same = [&](LockKind other) { return row_of(other).listed == row_of(*kind).listed; };
    if (std::ranges::none_of(kinds, looks_the_same)) kinds.push_back(*kind);
    more = comma != names.npos;
    if (more) names.remove_prefix(comma + 1);
  }
  return kinds;
}

std::vector<FoundLock> list_kinds(const Client& client, const std::string& pattern, const std::vector<LockKind>& kinds,
                                  InfoDetail detail) {
  if (kinds.empty()) return list_kinds(client, pattern, kinds_for(pattern), detail);
  return found_by(pattern, kinds, [&](KeyForm form) { return client.list(pattern, detail, form); });
}

std::vector<FoundLock> look_at_names(const Client& client, const std::vector<std::string>& names,
                                     const std::string& pattern, const std::vector<LockKind>& kinds,
                                     InfoDetail detail) {
  return found_by(pattern, kinds, [&](KeyForm form) { return detail::list_named(client, names, detail, form); });
}

std::string holder_in_words(LockKind kind, const LockInfo& lock) {
  const std::int64_t left = std::max<std::int64_t>(0, lock.available.value_or(0));
  if (kind == LockKind::latch) return fmt::format("{} left", left);
  if (kind == LockKind::semaphore) return fmt::format("{} free", left);
  if (kind == LockKind::permit) return fmt::format("{} held, {} free", lock.holders.size(), left);
  return holder_in_words(lock);
}

std::string names_of_kinds(KindsFor use) {
  std::string names;
  for (const KindRow& row : kKinds) {
    if (row.kind == LockKind::read || !is_for(row, use)) continue;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

}  // namespace holdfast::cli
