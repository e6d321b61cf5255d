// A synchronizer's transitions as data: what the engine sends and how it reads the answers.
#pragma once

#include "wire/lock_calls.hpp"

namespace holdfast::engine {

/// One per synchronizer, in sync/. All functions are pure.
struct Plan {
  base::Command (*acquire)(const wire::LockNames&, const wire::Owner&, std::chrono::milliseconds lease);
  wire::AcquireReply (*decode_acquire)(const base::Reply&);
  base::Command (*release)(const wire::LockNames&, const wire::Owner&);
  bool (*decode_release)(const base::Reply&);
};

}  // namespace holdfast::engine
