// What a client does for what it runs on.
#pragma once

#include <functional>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "engine/decide/lease.hpp"
#include "redis/cluster/slot.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::engine {

/// What a runtime asks of the client that it belongs to.
struct RuntimeHooks {
  /// There is a new connection to this server. On the loop.
  std::function<void(redis::Shard&)> connected;
  /// There is none any more.
  std::function<void(redis::Shard&)> disconnected = [](redis::Shard&) {};
  /// The same of its other lanes, and of keys that were changed: see LaneEvents. On the loop.
  std::function<void(redis::Shard&, redis::Side)> side_connected = [](redis::Shard&, redis::Side) {};
  std::function<void(redis::Shard&, redis::Side)> side_disconnected = [](redis::Shard&, redis::Side) {};
  std::function<void(redis::Shard&, const base::Reply&)> invalidated = [](redis::Shard&, const base::Reply&) {};
  /// These slots are served by another server than before. On the loop.
  std::function<void(const redis::cluster::SlotSet&)> moved = [](const redis::cluster::SlotSet&) {};
  /// Finds the holds whose deadlines are over; returns when to look next. On the signals' thread.
  std::function<TimePoint()> look_at_deadlines;
};

}  // namespace holdfast::engine
