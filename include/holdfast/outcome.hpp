// What becomes of a hold, and of the wait for one: its states, why it was lost, what its release found.
#pragma once

#include <cstdint>

#include <holdfast/export.hpp>

namespace holdfast {

/// What a release found.
enum class ReleaseOutcome : std::uint8_t {
  released,    ///< The server confirms: we held it without interruption, and it is now free. Also for a hold that
               ///< was given up as lost but that the server still had.
  still_held,  ///< One level of a re-entrant hold was released; the thread still holds the lock.
  was_lost,    ///< It was no longer ours. Work done under it may have overlapped with somebody else's.
  unknown,     ///< No answer in time. The release continues in the background; the lease bounds how long it can matter.
  left,        ///< By Hold::leave() or Hold::detach(): we held it without interruption, and it stays taken.
};
HOLDFAST_EXPORT const char* to_string(ReleaseOutcome outcome) noexcept;

/// The states of a hold. held -> suspect (a renewal failed; back to held when one succeeds) -> lost, or released. The
/// last two are final: a lost hold stays lost when it is released.
enum class HoldState : std::uint8_t { held, suspect, lost, released };
HOLDFAST_EXPORT const char* to_string(HoldState state) noexcept;

/// Why a hold was lost.
enum class LossReason : std::uint8_t {
  expired,   ///< The local deadline passed without a renewal that is known to have succeeded.
  taken,     ///< The server says that the lock is no longer ours (expired there, force release, FLUSHALL, failover).
  max_hold,  ///< The cap `max_hold` was reached; renewal has stopped.
  closed,    ///< The client was closed, or released everything (Client::release_all), while the hold was open.
  forked,    ///< This is a child process: the hold belongs to the parent.
};
HOLDFAST_EXPORT const char* to_string(LossReason reason) noexcept;

/// How a wait ended.
enum class WaitOutcome : std::uint8_t { granted, timed_out, cancelled, failed };
HOLDFAST_EXPORT const char* to_string(WaitOutcome outcome) noexcept;

}  // namespace holdfast
