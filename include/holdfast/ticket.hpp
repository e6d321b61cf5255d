// A hold on its way to another process, as text.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/export.hpp>

namespace holdfast {

/// The result of Hold::detach(): the lock's owner, as text for an environment variable, a file or an argument. Anyone
/// who has the text can resume the hold (KeyLock::adopt) or end it, so protect it like the lock itself. It does not say
/// whether the hold is still valid: only the server knows. It names no server.
struct HOLDFAST_EXPORT Ticket {
  enum class Kind : std::uint8_t { lock, fenced, fair, simple, permit };
  Kind kind = Kind::lock;
  std::string name;                    ///< As the caller gave it, without Config::name_prefix.
  std::string owner;                   ///< As Hold::owner().
  std::optional<std::int64_t> token;   ///< As Hold::token().
  std::chrono::milliseconds lease{0};  ///< As set last: how long the lock stays taken after a renewal.

  /// One word of printable ASCII that needs no quoting in a shell, with a checksum.
  std::string text() const;
  /// Throws Error(invalid_argument) for anything that text() cannot have returned.
  static Ticket parse(std::string_view text);

  friend bool operator==(const Ticket&, const Ticket&) = default;
};
HOLDFAST_EXPORT const char* to_string(Ticket::Kind kind) noexcept;

}  // namespace holdfast
