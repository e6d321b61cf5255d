// SPDX-License-Identifier: Apache-2.0
// Calls of the read-write lock named L, and the states that they meet and leave.
#pragma once

#include <chrono>
#include <string>

#include "kinds/read_write_lock.hpp"
#include "scripts/script_table.hpp"

namespace holdfast::test::read_write {

using std::chrono::milliseconds;
using table::kNoExpiry;
using table::State;
namespace rw = wire::read_write;

inline constexpr milliseconds kLease{60'000};
inline const wire::LockNames kL = rw::names("L");
inline const std::string kWake = "redisson_rwlock:{L}";
inline const wire::Owner kC{"77777777-2222-4333-8444-555555555555:9"};
inline const std::string kWriteA = kA.text + ":write", kWriteB = kB.text + ":write";

inline std::string hold(const wire::Owner& owner, int number = 1) {
  return "{L}:" + owner.text + ":rwlock_timeout:" + std::to_string(number);
}

inline base::Command read(const wire::Owner& owner, bool count = false) {
  return rw::acquire_read({{&kL, 1}, owner, kLease, count});
}
inline base::Command write(const wire::Owner& owner, bool count = false) {
  return rw::acquire_write({{&kL, 1}, owner, kLease, count});
}
inline base::Command end_read(const wire::Owner& owner) { return rw::release_read({{&kL, 1}, owner}); }
inline base::Command end_write(const wire::Owner& owner) { return rw::release_write({{&kL, 1}, owner}); }
inline base::Command downgrade(const wire::Owner& writer, const wire::Owner& reader) {
  return rw::downgrade({kL, writer, reader, kLease});
}

inline State read_by(const wire::Owner& owner, long long ttl) {
  return {{"L", table::hash({{"mode", "read"}, {owner.text, "1"}}, ttl)}, {hold(owner), table::text("1", ttl)}};
}
inline State written_by(const wire::Owner& owner, long long ttl) {
  return {{"L", table::hash({{"mode", "write"}, {owner.text + ":write", "1"}}, ttl)}};
}
/// Two readers, each with its own time, and the lock's.
inline State two_readers(long long a, long long b, long long ttl) {
  return {{"L", table::hash({{"mode", "read"}, {kA.text, "1"}, {kB.text, "1"}}, ttl)},
          {hold(kA), table::text("1", a)},
          {hold(kB), table::text("1", b)}};
}
/// A writer that reads as well.
inline State both_ways(long long reads, long long ttl) {
  return {{"L", table::hash({{"mode", "write"}, {kWriteA, "1"}, {kA.text, "1"}}, ttl)},
          {hold(kA), table::text("1", reads)}};
}

}  // namespace holdfast::test::read_write
