// How every interface reports an acquire's outcome to the caller.
#pragma once

#include <optional>

#include <holdfast/error.hpp>

#include "engine/acquire/acquire.hpp"

namespace holdfast::face {

/// Somebody else has it, or the caller stopped waiting; anything else is a failure.
inline bool not_granted(std::error_code error) {
  return error == Errc::busy || error == Errc::timed_out || error == Errc::cancelled;
}

/// What acquire() reports where try_acquire() reports `busy`: its wait was zero.
inline std::error_code as_waiting(std::error_code error) {
  return error == Errc::busy ? make_error_code(Errc::timed_out) : error;
}

Error error_about(const engine::Acquirable& target, std::error_code error, std::string cause,
                  std::optional<bool> may_pass = std::nullopt);
/// Of an acquire that was not granted.
Error error_about(const engine::Acquirable& target, engine::Acquired&& failed);
/// Throws Error(lost) unless it is certainly ours for at least a millisecond.
void require_valid(engine::Claim& held);

}  // namespace holdfast::face
