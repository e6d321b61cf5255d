// The hold that the calling thread has by lock().
#pragma once

#include "base/ids.hpp"
#include "engine/hold/hold_release.hpp"
#include "engine/hold/sharing.hpp"
#include "engine/hold/target.hpp"
#include "engine/runtime/runtime.hpp"
#include "face/parts.hpp"

namespace holdfast::face {

inline engine::ThreadHolds::Who this_thread(wire::Mode mode) { return {base::this_thread_number(), mode}; }

/// The hold in this mode. Empty in a forked child, where the target's mutex must not be touched.
inline engine::ThreadHolds::Entry own_hold(const engine::Target& target, wire::Mode mode) {
  if (target.runtime().in_child()) return {};
  return target.threads().find(this_thread(mode));
}

/// The calling thread leaves one level. If it was the last one in this mode, `end` releases the hold, unless the thread
/// also has it in the other mode.
template <class End>
engine::ThreadHolds::Entry leave_level(const detail::Parts& parts, End end) {
  using wire::Mode;
  engine::ThreadHolds& threads = parts.target->threads();
  engine::ThreadHolds::Entry own = threads.leave_level(this_thread(parts.ask.mode));
  if (own.count != 1) return own;
  const bool shared = parts.ask.mode == Mode::shared;
  const engine::ThreadHolds::Entry other = threads.find(this_thread(shared ? Mode::exclusive : Mode::shared));
  if (other.count == 0 || other.held != own.held) {
    end(*own.held);
  } else if (!shared) {
    // If refused, the reader learns it from the loss of the hold.
    [[maybe_unused]] const std::error_code refused = engine::share(*own.held);
  }
  return own;
}

}  // namespace holdfast::face
