// SPDX-License-Identifier: Apache-2.0
// Calls of the semaphore, the leased semaphore and the latch named S, and the states that they meet and leave.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "kinds/latch.hpp"
#include "kinds/leased_semaphore.hpp"
#include "kinds/semaphore.hpp"
#include "scripts/script_table.hpp"

namespace holdfast::test::counting {

using std::chrono::milliseconds;
using table::number;
using table::State;
using table::text;

inline constexpr milliseconds kLease{60'000};
/// Keys that remember live for so long.
inline constexpr long long kRemembered = 90'000;
inline const wire::LockNames kS = wire::semaphore::names("S");
inline const wire::LockNames kGate = wire::latch::names("S");
inline const std::string kWake = "redisson_sc:{S}";
inline const std::string kOpened = "redisson_countdownlatch__channel__{S}";
inline const std::string kLeases = "{S}:timeout";

inline wire::Owner of(const wire::Owner& owner, std::uint32_t permits) {
  wire::Owner many = owner;
  many.ask.permits = permits;
  return many;
}
inline wire::Once once(std::string key) { return {std::move(key), milliseconds(kRemembered)}; }
/// What the server remembers, and under which key.
inline std::pair<const std::string, table::Value> kept(const std::string& operation, const std::string& said) {
  return {"{S}:holdfast_once:" + operation, text(said, kRemembered)};
}
inline std::pair<const std::string, table::Value> count(const std::string& number, long long ttl = table::kNoExpiry) {
  return {"S", text(number, ttl)};
}

namespace semaphore {
inline base::Command acquire(const wire::Owner& owner, bool counted = false) {
  wire::AcquireCall call{{&kS, 1}, owner, kLease, counted};
  call.once = once(wire::acquired_key(owner));
  return wire::semaphore::acquire(call);
}
inline base::Command release(const wire::Owner& owner) {
  wire::ReleaseCall call{{&kS, 1}, owner};
  call.once = once(wire::released_key(owner));
  return wire::semaphore::release(call);
}
/// Of an acquire whose outcome is unknown.
inline base::Command undo(const wire::Owner& owner) {
  wire::ReleaseCall call{{&kS, 1}, owner};
  call.once = once(wire::released_key(owner));
  call.undoes = wire::acquired_key(owner);
  return wire::semaphore::release(call);
}
}  // namespace semaphore

namespace permits {
inline const std::string kIdA = wire::permits::ids_of(kA).front();
inline const std::string kIdB = wire::permits::ids_of(kB).front();
inline const std::string kSecondOfA = wire::permits::ids_of(of(kA, 2)).back();

inline base::Command acquire(const wire::Owner& owner, milliseconds lease = kLease, bool counted = false) {
  return wire::permits::acquire({{&kS, 1}, owner, lease, counted});
}
inline base::Command release(const wire::Owner& owner) { return wire::permits::release({{&kS, 1}, owner}); }
inline std::pair<const std::string, table::Value> leases(std::map<std::string, long long> scores,
                                                         long long ttl = table::kNoExpiry) {
  table::Value value = table::zset(std::move(scores));
  value.ttl = ttl;
  return {kLeases, std::move(value)};
}
}  // namespace permits

}  // namespace holdfast::test::counting
