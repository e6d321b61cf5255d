// What a lane's handlers on the loop keep alive.
#pragma once

#include <memory>

namespace holdfast::redis {

/// The lane's owner, if one is set; otherwise only the lane's own state.
struct Lifeline {
  std::weak_ptr<void> owner;
  std::weak_ptr<void> lane;

  std::shared_ptr<void> hold() const {
    std::shared_ptr<void> kept = owner.lock();
    return kept ? kept : lane.lock();
  }
};

}  // namespace holdfast::redis
