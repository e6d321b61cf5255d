// The callbacks of a client's runtime.
#pragma once

#include <functional>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "engine/decide/lease.hpp"
#include "redis/cluster/slot.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::engine {

/// What a runtime calls in its client.
struct RuntimeHooks {
  /// There is a new connection to this server. On the loop.
  std::function<void(redis::Shard&)> connected;
  /// That connection has ended.
  std::function<void(redis::Shard&)> disconnected = [](redis::Shard&) {};
  /// The same for its other lanes, and for changed keys: see LaneEvents. On the loop.
  std::function<void(redis::Shard&, redis::Side)> side_connected = [](redis::Shard&, redis::Side) {};
  std::function<void(redis::Shard&, redis::Side)> side_disconnected = [](redis::Shard&, redis::Side) {};
  std::function<void(redis::Shard&, const base::Reply&)> invalidated = [](redis::Shard&, const base::Reply&) {};
  /// These slots are now served by another server. On the loop.
  std::function<void(const redis::cluster::SlotSet&)> moved = [](const redis::cluster::SlotSet&) {};
  /// Finds the holds whose deadlines have passed; returns when to check next. On the signals' thread.
  std::function<TimePoint()> look_at_deadlines;
};

}  // namespace holdfast::engine
