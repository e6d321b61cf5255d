// SPDX-License-Identifier: Apache-2.0
// The kinds of locks: a table of their names for `--kind` and --json, how a client makes one, and how it lists them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>

namespace holdfast::cli {

/// `--kind`: which family of locks.
enum class LockKind {
  lock,       ///< Redisson's RLock: a hash.
  fenced,     ///< The same with a token: Redisson's RFencedLock.
  fair,       ///< The same with a queue: Redisson's RFairLock.
  simple,     ///< SET NX PX: a string.
  spin,       ///< As `lock`, without messages: Redisson's RSpinLock.
  write,      ///< Redisson's RReadWriteLock, as a writer: a hash with `mode`.
  read,       ///< The same as a reader: `--shared`.
  permit,     ///< One permit of Redisson's RPermitExpirableSemaphore: a number, and a sorted set.
  semaphore,  ///< Redisson's RSemaphore: a number. Can only be inspected.
  latch,      ///< Redisson's RCountDownLatch: a number. Can only be inspected.
};

/// Kinds with several holders for one name.
inline bool is_read_write(LockKind kind) { return kind == LockKind::write || kind == LockKind::read; }

/// Kinds without holders, which are only a number.
inline bool is_number(LockKind kind) { return kind == LockKind::semaphore || kind == LockKind::latch; }

/// The valid kinds depend on the use: kinds without holders can only be inspected.
enum class KindsFor { holding, looking };

/// A row of the table.
struct KindRow {
  LockKind kind = LockKind::lock;
  const char* name = nullptr;                                         ///< A reader and a writer are of one kind.
  KeyForm listed = KeyForm::locks;                                    ///< Among what a list shows it.
  KeyLock (*make)(const Client&, const std::string& name) = nullptr;  ///< Null: it has no holders.
  const char* alone = nullptr;  ///< Why `run` refuses several names or servers; null: it does not.
};

const KindRow& row_of(LockKind kind);
/// Empty: there is none of this name for this use.
std::optional<LockKind> kind_named(std::string_view name, KindsFor use);
/// Each that looks different in a list, from names with commas between; or `all` that can be told from other data,
/// which semaphores and latches cannot. Empty: one of the names is of none.
std::optional<std::vector<LockKind>> kinds_named(std::string_view names);
/// The same where no names are given: without simple locks if the pattern matches every name, since then every string
/// of the server would have to be looked at.
std::vector<LockKind> kinds_for(const std::string& pattern);
/// All their names, with commas between.
std::string names_of_kinds(KindsFor use);

/// A lock that a list has found, and of which kind it is.
struct FoundLock {
  LockKind kind = LockKind::lock;
  LockInfo lock;
};

/// The locks of these kinds whose names match the pattern, by name; no kinds: kinds_for(pattern). Among several kinds,
/// a string is a simple lock only if its value has an owner's form, which takes more than InfoDetail::owner, or by its
/// exact name. Throws Error.
std::vector<FoundLock> list_kinds(const Client& client, const std::string& pattern, const std::vector<LockKind>& kinds,
                                  InfoDetail detail);

/// The same of these names only, of what list_kinds() finds by this pattern. Not in a cluster.
std::vector<FoundLock> look_at_names(const Client& client, const std::vector<std::string>& names,
                                     const std::string& pattern, const std::vector<LockKind>& kinds, InfoDetail detail);

/// Who has it, as holder_in_words(LockInfo); of kinds whose holders have no names, how many, and how many more there
/// are.
std::string holder_in_words(LockKind kind, const LockInfo& lock);

/// The lock of this name and family.
inline KeyLock key_lock(const Client& client, const std::string& name, LockKind kind) {
  return row_of(kind).make(client, name);
}

}  // namespace holdfast::cli
