// The one table of failures: what an error reply means in our own terms. docs/errors.md is the same table in words.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/error.hpp>

namespace holdfast::redis {

/// What has become of the command that failed, and what to do about it.
enum class Fate {
  transient,  ///< Not executed, for a reason that goes away by itself: try again.
  lasting,    ///< Not executed, and trying again will not help.
  denied,     ///< Not executed: a password, a user or a permission is missing.
  ran,        ///< Executed, and ended in an error: what a script had written by then stays. To be undone.
  unknown,    ///< It may have been executed.
};

struct Meaning {
  Errc code{};
  Fate fate = Fate::lasting;
  /// Somebody else, or time, must change something first.
  bool for_good() const { return fate == Fate::lasting || fate == Fate::denied; }
  friend bool operator==(const Meaning&, const Meaning&) = default;
};

/// The meaning of an error reply, to a plain command or to a script. Finds the server's word also inside the wrapping
/// that Redis 6 puts around errors of scripts.
Meaning classify(std::string_view error_text);

/// Why a command was refused, for people too.
struct Refusal {
  Meaning meaning;
  std::string cause;
};

/// True if the command itself is refused, whatever its arguments.
bool refuses_command(std::string_view error_text);

/// True if a command of several keys may be refused since one of them is in the way: the others would be served.
bool refuses_a_key(std::string_view error_text);

/// An error reply for people: without the command's arguments, which servers repeat, a password among them; and with a
/// word of explanation where the server's own are for insiders.
std::string explain(std::string_view error_text);

/// True if another node of the cluster is to be asked: MOVED or ASK. A server says so before it does anything.
bool is_redirect(std::string_view error_text);

/// True if the server is a replica, perhaps since a moment ago: another one takes the writes.
bool is_demoted(std::string_view error_text);

}  // namespace holdfast::redis
