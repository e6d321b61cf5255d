// SPDX-License-Identifier: Apache-2.0
// The kinds of locks that are one key, for what all of them have in common: a new one gets its row here.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include <holdfast/holdfast.hpp>

namespace holdfast::test {

struct KeyKind {
  std::string word;  // as takers are told
  std::string type;
  KeyLock (*make)(const Client& client, std::string_view name);
};

inline const KeyKind kKeyKinds[] = {
    {"lock", "Lock", [](const Client& client, std::string_view name) -> KeyLock { return client.lock(name); }},
    {"fenced", "FencedLock",
     [](const Client& client, std::string_view name) -> KeyLock { return client.fenced_lock(name); }},
    {"fair", "FairLock", [](const Client& client, std::string_view name) -> KeyLock { return client.fair_lock(name); }},
    {"spin", "SpinLock", [](const Client& client, std::string_view name) -> KeyLock { return client.spin_lock(name); }},
    {"simple", "SimpleLock",
     [](const Client& client, std::string_view name) -> KeyLock { return client.simple_lock(name); }},
    {"read_write", "ReadWriteLock",
     [](const Client& client, std::string_view name) -> KeyLock { return client.read_write_lock(name).writer(); }},
};

/// By one of its names (`&KeyKind::word`); null: none of these.
inline const KeyKind* key_kind(std::string KeyKind::* by, std::string_view name) {
  const KeyKind* const found = std::ranges::find(kKeyKinds, name, by);
  return found == std::end(kKeyKinds) ? nullptr : found;
}

}  // namespace holdfast::test
