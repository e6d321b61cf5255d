// SPDX-License-Identifier: Apache-2.0
// Plain values that cross between what builds commands (kinds) and what sends them (redis).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::base {

/// A server-side script, embedded at build time from its .lua file. Sent by its hash, or by its text if the server does
/// not know the hash.
struct Script {
  std::string_view name;  ///< Its path without ending, for example `lock/acquire`.
  std::string_view text;
  std::string_view sha1;  ///< 40 lower-case hex digits.
  /// The same script in a form that names only its first key to the server (cluster::of_first_key). Null: it never has
  /// more than one.
  const Script* of_first_key = nullptr;
};

/// One command. With a script, `args` is what follows the script: the number of keys, the keys, the arguments.
struct Command {
  std::vector<std::string> args;
  const Script* script = nullptr;
  /// Of a script whose keys may be at two servers while their slot moves: the same as commands with one key each, which
  /// are carried out one after another; the reply is that of the last one. Null: it waits until its keys are together.
  std::vector<Command> (*pieces)(const Command&) = nullptr;

  /// The call of a script. Each argument is copied once, or moved: an initializer list would copy them twice.
  template <class... Args>
  static Command call(const Script& script, Args&&... args) {
    Command command{{}, &script};
    command.args.reserve(sizeof...(args));
    (command.args.emplace_back(std::forward<Args>(args)), ...);
    return command;
  }
};

/// One reply, as a tree. Errors keep the server's text, its first word included (`WRONGTYPE Operation against ...`).
struct Reply {
  enum class Kind { null, integer, text, error, array };
  Kind kind = Kind::null;
  std::int64_t integer = 0;
  std::string text{};             ///< For text and error.
  std::vector<Reply> elements{};  ///< For array; a map is a flat array of keys and values.

  bool is_null() const { return kind == Kind::null; }
  bool is_integer() const { return kind == Kind::integer; }
  bool is_text() const { return kind == Kind::text; }
  bool is_error() const { return kind == Kind::error; }
  bool is_array() const { return kind == Kind::array; }
};

}  // namespace holdfast::base
