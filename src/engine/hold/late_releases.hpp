// Tells a new primary of the releases that only the one before it may have seen.
#pragma once

#include <deque>
#include <vector>

#include "base/resp.hpp"
#include "engine/decide/recent_releases.hpp"
#include "engine/runtime/runtime.hpp"
#include "redis/cluster/slot.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {

/// Of one client. On the loop.
class LateReleases {
 public:
  /// After a new connection: by then other clients, who may still be granted locks by the old primary, have left it as
  /// well. What is free at the new one a moment too early could have two holders.
  static constexpr std::chrono::seconds kPause{1};

  LateReleases(Runtime& runtime, const RecentReleases& recent);

  void on_connected();
  /// These slots of a cluster are served by others: after a failover, or since they were moved, which does no harm.
  void on_moved(const redis::cluster::SlotSet& slots);
  void stop();

 private:
  void repeat_later(std::vector<base::Command> releases);
  void repeat();

  Runtime& runtime_;
  const RecentReleases& recent_;
  timing::Alarm alarm_;
  struct Batch {
    base::TimePoint due{};
    std::vector<base::Command> releases{};
  };
  std::deque<Batch> waiting_;  // in order of time
  std::size_t waiting_releases_ = 0;
};

}  // namespace holdfast::engine
