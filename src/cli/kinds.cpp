#include "cli/kinds.hpp"

#include <algorithm>
#include <array>

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

bool is_for(const KindRow& row, KindsFor use) { return use == KindsFor::looking || !is_number(row.kind); }

}  // namespace

const KindRow& row_of(LockKind kind) { return *std::ranges::find(kKinds, kind, &KindRow::kind); }

std::optional<LockKind> kind_named(std::string_view name, KindsFor use) {
  const auto found =
      std::ranges::find_if(kKinds, [&](const KindRow& row) { return row.name == name && is_for(row, use); });
  return found == kKinds.end() ? std::nullopt : std::optional(found->kind);
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

std::string names_of_kinds(KindsFor use) {
  std::string names;
  for (const KindRow& row : kKinds) {
    if (row.kind == LockKind::read || !is_for(row, use)) continue;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

}  // namespace holdfast::cli
