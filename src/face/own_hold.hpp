// The hold that the calling thread has by lock().
#pragma once

#include "base/ids.hpp"
#include "engine/hold/holding.hpp"
#include "engine/hold/target.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::face {

/// Empty in a forked child, where the target's mutex must not be touched.
inline engine::ThreadHolds::Entry own_hold(const engine::Target& target) {
  if (target.runtime().in_child()) return {};
  return target.threads().find(base::this_thread_number());
}

}  // namespace holdfast::face
