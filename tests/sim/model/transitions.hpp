// SPDX-License-Identifier: Apache-2.0
// Every transition of src/kinds/lua once more, in C++: what each means, not how it is written there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/resp.hpp"
#include "sim/model/keyspace.hpp"
#include "sim/model/resp3.hpp"

namespace holdfast::test {

enum class Channel { plain, sharded };

/// What a script can do beside the keyspace. Each throws Refused where the server, or a permission, does.
class ScriptHost {
 public:
  ScriptHost() = default;
  virtual ~ScriptHost() = default;
  ScriptHost(const ScriptHost&) = delete;
  ScriptHost& operator=(const ScriptHost&) = delete;

  virtual Keyspace& keyspace() = 0;
  /// How many have heard it.
  virtual std::int64_t publish(Channel kind, std::string_view channel, std::string_view text) = 0;
  virtual std::int64_t listeners(Channel kind, std::string_view channel) = 0;
  /// Whether a command with these keys would be carried out here, and not refused since some are at another server
  /// while their slot moves.
  virtual bool has_all(Args keys) = 0;
  /// Whether the user may do this command.
  virtual bool may(std::string_view command) const = 0;
};

/// Puts its reply behind `reply`, or throws Refused.
using Transition = void (*)(ScriptHost& host, Args keys, Args args, std::string& reply);

struct KnownScript {
  const base::Script* script = nullptr;
  Transition run = nullptr;
  /// It is the script's form that names only its first key (base::Script::of_first_key).
  bool of_first_key = false;

  std::string_view sha1() const { return of_first_key ? script->of_first_key->sha1 : script->sha1; }
};
/// By its SHA-1, or by its text. Empty: no script of ours.
std::optional<KnownScript> script_of_sha1(std::string_view sha1);
std::optional<KnownScript> script_of_text(std::string_view text);

}  // namespace holdfast::test
