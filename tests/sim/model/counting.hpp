// SPDX-License-Identifier: Apache-2.0
// What the transitions of the kinds that count have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/model/transition_parts.hpp"

namespace holdfast::test {

/// The number at a key; empty: nothing is there. Whatever else is there is left alone, and named.
std::optional<std::int64_t> count_at(ScriptHost& host, std::string_view key);
std::int64_t number_of(std::string_view text);
/// To those who wait for permits, if there are any: how many there are now.
std::int64_t tell_of_permits(ScriptHost& host, std::optional<std::int64_t> count, std::string_view channel,
                             std::string_view way);

/// An operation that the server remembers, so that it is carried out once however often it is sent.
class Once {
 public:
  /// `position`: of the key under which it is remembered, if there are as many.
  Once(Keyspace& all, Args keys, std::size_t position, std::string_view remembered)
      : all_(all), key_(position < keys.size() ? keys[position] : std::string_view()), remembered_(remembered) {}

  /// Carried out already: what was said then is said again.
  bool before(std::string& reply) const {
    const std::string* const said = key_.empty() ? nullptr : all_.text(key_);
    if (said == nullptr) return false;
    const auto number = to_number(*said);
    number ? put_number(reply, *number) : put_null(reply);
    return true;
  }
  /// `gives`: something back, which a full server lets pass.
  void keep(const std::string& said, bool gives) const {
    if (key_.empty()) return;
    if (gives) all_.erase(key_);
    all_.set(key_, said, remembered_);
  }
  /// What is refused is not remembered.
  template <class Change>
  void carry_out(Change&& change) const {
    const auto changed = attempt([&] { return change(), true; });
    if (changed.value) return;
    if (!key_.empty()) all_.erase(key_);
    throw Refused(changed.refused);
  }

 private:
  Keyspace& all_;
  const std::string_view key_, remembered_;
};

}  // namespace holdfast::test
