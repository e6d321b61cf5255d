// SPDX-License-Identifier: Apache-2.0
// The one table of failures: what an error reply means in our own terms. docs/errors.md describes the same table.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/error.hpp>

namespace holdfast::redis {

/// What happened to the failed command, and what to do about it.
enum class Fate {
  transient,  ///< Not executed, for a temporary reason: retry.
  lasting,    ///< Not executed, and a retry will not help.
  denied,     ///< Not executed: a password, a user or a permission is missing.
  ran,        ///< Executed, and ended in an error: what a script had written by then stays. Must be undone.
  unknown,    ///< It may have been executed.
};

struct Meaning {
  Errc code{};
  Fate fate = Fate::lasting;
  /// A retry is pointless until somebody changes something.
  bool for_good() const { return fate == Fate::lasting || fate == Fate::denied; }
  /// It may pass without a change to the settings or to the call: whoever promises to go on tries again. Memory comes
  /// back, although a call does not wait for that.
  bool may_pass() const { return fate == Fate::transient || fate == Fate::unknown || code == Errc::out_of_memory; }
  friend bool operator==(const Meaning&, const Meaning&) = default;
};

/// The meaning of an error reply, to a plain command or to a script. Also finds the server's code inside the wrapping
/// that Redis 6 puts around errors of scripts.
Meaning classify(std::string_view error_text);

/// The same of the reply to a script. What the table does not know may be an error halfway, so it counts as one.
Meaning classify_script(std::string_view error_text);

/// Why a command was refused, also as text.
struct Refusal {
  Meaning meaning;
  std::string cause;
};

/// For people, where a server has no scripts.
inline constexpr const char* kNoLua = "Lua is a module since Valkey 9.1: loadmodule libvalkeylua.so";

/// True if the command itself is refused, whatever its arguments.
bool refuses_command(std::string_view error_text);

/// Of the reply to HELLO 3: the server, or a proxy, does not know HELLO, or not RESP3.
bool refuses_resp3(std::string_view error_text);

/// True if a command with several keys may be refused because of one key, while the others would be accepted.
bool refuses_a_key(std::string_view error_text);

/// An error reply for people: without the command's arguments, which servers repeat and which may include a password;
/// with an explanation where the server's text is hard to understand.
std::string explain(std::string_view error_text);

/// What a server says of a password that it does not accept.
inline constexpr const char* kWrongPassword = "WRONGPASS invalid username-password pair or user is disabled.";

/// True if another cluster node must be asked: MOVED or ASK. The server replies this before it does anything.
bool is_redirect(std::string_view error_text);

/// True if the server does not have all the keys, since their slot moves to another one, or some are nowhere: TRYAGAIN.
/// The server replies this before it does anything.
bool is_apart(std::string_view error_text);

/// True if the server is a replica, perhaps since a moment ago, so that writes must go elsewhere.
bool is_demoted(std::string_view error_text);

}  // namespace holdfast::redis
