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

/// Of those that are armed; the watchdog guards it. A hold knows its place here, so that it leaves at no cost.
class HoldsBySlot {
 public:
  using Holds = std::vector<std::shared_ptr<Tenancy>>;

  void add(Tenancy& hold) noexcept;
  void remove(Tenancy& hold) noexcept;
  /// Those of one slot that are looked at by then.
  void add_due(Holds& to, std::uint16_t slot, TimePoint by) const;
  /// Those that lie wholly in one of these slots, and all of which a part may, with the times when they are looked at.
  /// False: there was no memory to know each of them.
  using Scheduled = std::vector<std::pair<TimePoint, std::shared_ptr<Tenancy>>>;
  bool add_all(Scheduled& to, const redis::cluster::SlotSet& slots) const;

  static constexpr std::uint32_t kNowhere = UINT32_MAX;

 private:
  using Bucket = std::vector<Tenancy*>;
  static constexpr std::uint32_t kSeveral = redis::cluster::kSlots;  // no slot: what lies in several
  static std::uint32_t slot_of(const Tenancy& hold);

  std::unordered_map<std::uint32_t, Bucket> buckets_;
  std::size_t missing_ = 0;
};

}  // namespace holdfast::engine
