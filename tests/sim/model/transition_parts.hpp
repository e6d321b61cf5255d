// SPDX-License-Identifier: Apache-2.0
// What the transitions of all kinds have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/model/transitions.hpp"

namespace holdfast::test {

/// What a pcall gives: a value, or why there is none.
template <class T>
struct Attempted {
  std::optional<T> value;
  std::string refused;
};
template <class F>
auto attempt(F&& call) -> Attempted<decltype(call())> {
  try {
    return {call(), {}};
  } catch (const Refused& refused) {
    return {std::nullopt, refused.text()};
  }
}

bool of_another_type(std::string_view refused);

/// Of a release: by PUBLISH, by SPUBLISH (`spublish`), or by both. Throws only if the one that must be was refused;
/// `both` has been told in the other way too by then, if `thorough`.
std::int64_t tell(ScriptHost& host, std::string_view channel, std::string_view way, bool thorough,
                  std::string_view payload = "0");
/// As `thorough`; whom it may not tell it leaves out.
std::int64_t tell_whom_it_can(ScriptHost& host, std::string_view channel, std::string_view way,
                              std::string_view payload = "0");
/// The argument behind those that there always are.
std::string_view way_of(Args args, std::size_t position);
/// On the channel that is named, by the command that is; -1: this user may not ask.
std::int64_t count_listeners(ScriptHost& host, std::string_view channel, std::string_view command);

/// What a renewal did not extend, from 1.
void put_indices(std::string& reply, const std::vector<std::size_t>& indices);

using Field = std::pair<std::string, std::string>;

/// What is at a key: a lock, something else, or (neither) what this user may not look at.
struct Found {
  const Field* lock = nullptr;
  std::string other{};
  std::string refused{};
};
/// A reader's owner, or a writer's and `:write`.
bool is_hold(std::string_view field);
Found look(ScriptHost& host, std::string_view key, std::optional<Keyspace::Millis> remaining);
/// What is no lock is left alone.
Found lock_at(ScriptHost& host, std::string_view key, std::optional<Keyspace::Millis> remaining,
              const std::string& which = "it");

/// From whoever has it, or from the owner that is named behind the first arguments. False: it was not held.
bool take_lock(ScriptHost& host, std::string_view key, Args args, std::size_t first);

std::span<const KnownScript> read_write_scripts();
std::span<const KnownScript> fair_scripts();
std::span<const KnownScript> spin_scripts();
std::span<const KnownScript> counting_scripts();
std::span<const KnownScript> permits_scripts();

}  // namespace holdfast::test
