// SPDX-License-Identifier: Apache-2.0
// A lock of somebody else, put on a server as Redisson writes it.
#pragma once

#include <string>

#include "support/raw.hpp"

namespace holdfast::test {

inline const std::string kSomebodyElse = "99999999-2222-4333-8444-555555555555:7";

/// With an expiry in an hour: without one it would be no lock.
inline void put_held_lock(Raw& raw, const std::string& key, const std::string& owner = kSomebodyElse) {
  raw.command("HSET", key, owner, 1);
  raw.command("PEXPIRE", key, 3'600'000);
}
inline void put_held_lock(Raw&& raw, const std::string& key, const std::string& owner = kSomebodyElse) {
  put_held_lock(raw, key, owner);
}

}  // namespace holdfast::test
