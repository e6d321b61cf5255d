// How an acquire's outcome is put to the caller, in every face.
#pragma once

#include <holdfast/error.hpp>

#include "engine/acquire/acquire.hpp"

namespace holdfast::face {

/// Somebody else has it, or the caller did not want it any more; all else is trouble.
inline bool not_granted(std::error_code error) {
  return error == Errc::busy || error == Errc::timed_out || error == Errc::cancelled;
}

/// What acquire() says where try_acquire() says `busy`: it was to wait for no time at all.
inline std::error_code as_waiting(std::error_code error) {
  return error == Errc::busy ? make_error_code(Errc::timed_out) : error;
}

Error error_about(const engine::Target& target, std::error_code error, std::string cause);
/// Throws Error(lost) if it is not certainly ours for a millisecond more.
void require_valid(engine::Claim& held);

}  // namespace holdfast::face
