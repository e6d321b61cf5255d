// A hold on its way to another process, as text.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/export.hpp>

namespace holdfast {

/// What Hold::detach() leaves of a hold: who has the lock, as text for an environment variable, a file or an argument.
/// Whoever has the text can take the hold up again (KeyLock::adopt) or end it, so treat it as the lock itself. It says
/// nothing about whether the hold still stands: the server does. It names no server.
struct HOLDFAST_EXPORT Ticket {
  enum class Kind : std::uint8_t { lock, fenced, fair, simple, permit };
  Kind kind = Kind::lock;
  std::string name;                    ///< As the caller gave it, without Config::name_prefix.
  std::string owner;                   ///< As Hold::owner().
  std::optional<std::int64_t> token;   ///< As Hold::token().
  std::chrono::milliseconds lease{0};  ///< As it was set last: for how long the lock is taken from a renewal on.

  /// One word of printable ASCII that no shell changes, with a check sum.
  std::string text() const;
  /// Throws Error(invalid_argument) for anything that text() cannot have returned.
  static Ticket parse(std::string_view text);

  friend bool operator==(const Ticket&, const Ticket&) = default;
};
HOLDFAST_EXPORT const char* to_string(Ticket::Kind kind) noexcept;

}  // namespace holdfast
