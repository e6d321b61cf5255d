// Which holds lie in which slot of a cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/hold/tenancy.hpp"
#include "redis/cluster/slot.hpp"

namespace holdfast::engine {

/// Of the holds that are armed; the watchdog guards it. A hold knows its place here, so it is taken out at once.
class HoldsBySlot {
 public:
  using Holds = std::vector<std::shared_ptr<Tenancy>>;

  void add(Tenancy& hold) noexcept;
  void remove(Tenancy& hold) noexcept;
  /// Those of one slot that are to be checked by then.
  void add_due(Holds& to, std::uint16_t slot, TimePoint by) const;
  /// Those that lie in one of these slots, and all that lie in several slots, with the times when they are to be
  /// checked. False: some are missing, since there was no memory for their places.
  using Scheduled = std::vector<std::pair<TimePoint, std::shared_ptr<Tenancy>>>;
  bool add_all(Scheduled& to, const redis::cluster::SlotSet& slots) const;

  static constexpr std::uint32_t kNowhere = UINT32_MAX;

 private:
  using Bucket = std::vector<Tenancy*>;
  static constexpr std::uint32_t kSeveral = redis::cluster::kSlots;  // not a slot: for what lies in several
  static std::uint32_t slot_of(const Tenancy& hold);

  std::unordered_map<std::uint32_t, Bucket> buckets_;
  std::size_t missing_ = 0;
};

}  // namespace holdfast::engine
