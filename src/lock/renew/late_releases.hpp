// SPDX-License-Identifier: Apache-2.0
// Tells a new primary of the releases that only the one before it may have seen.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "base/resp.hpp"
#include "lock/decide/recent_releases.hpp"
#include "lock/runtime/runtime.hpp"
#include "loop/alarm.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::engine {

/// Of one client: carries out what LateBatch decides. On the loop.
class LateReleases {
 public:
  LateReleases(Runtime& runtime, const RecentReleases& recent);

  void on_connected();
  /// These slots of a cluster are served by others: after a failover, or since they were moved, which does no harm.
  void on_moved(const redis::cluster::SlotSet& slots);
  void stop();

 private:
  using Batch = std::shared_ptr<LateBatch>;

  void repeat_later(std::vector<ConfirmedRelease> releases);
  void on_alarm();
  void look(const Batch& batch, const std::vector<std::size_t>& numbers);
  void ask(redis::Shard& shard, const Batch& batch, std::vector<std::size_t> numbers);
  void on_listeners(const redis::Shard& shard, LateBatch& batch, const std::vector<std::size_t>& numbers,
                    const redis::Result& result);
  void repeat(std::vector<base::Command> releases);
  void set_alarm();

  Runtime& runtime_;
  const RecentReleases& recent_;
  timing::Alarm alarm_;
  std::list<Batch> batches_;  // in order of time
};

}  // namespace holdfast::engine
