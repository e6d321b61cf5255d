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
/// To those who wait for permits, if there are any: how many there are now. Throws as `tell` does.
std::int64_t tell_of_permits(ScriptHost& host, std::optional<std::int64_t> count, std::string_view channel,
                             std::string_view way, bool thorough);

}  // namespace holdfast::test
