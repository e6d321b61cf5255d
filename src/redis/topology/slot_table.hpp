// Which shard serves which slot, for all threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "redis/cluster/slot.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::redis {

/// Its shards outlive it. Written on the loop, read from any thread, without a mutex: 128 KiB for each client of a
/// cluster.
class SlotTable {
 public:
  /// Null: unknown.
  Shard* at(std::uint16_t slot) const { return shards_.at(slot).load(std::memory_order_acquire); }
  /// True: changed.
  bool set(std::uint16_t slot, Shard* shard) {
    return shards_.at(slot).exchange(shard, std::memory_order_acq_rel) != shard;
  }

 private:
  std::array<std::atomic<Shard*>, cluster::kSlots> shards_{};
};

}  // namespace holdfast::redis
