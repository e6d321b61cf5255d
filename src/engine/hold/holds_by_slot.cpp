#include "engine/hold/holds_by_slot.hpp"

#include "engine/hold/acquirable.hpp"

namespace holdfast::engine {

std::uint32_t HoldsBySlot::slot_of(const Tenancy& hold) {
  const std::optional<BatchPlace> place = hold.target()->batch_place();
  return place ? place->slot : kSeveral;
}

void HoldsBySlot::add(Tenancy& hold) noexcept {
  try {
    Bucket& bucket = buckets_[slot_of(hold)];
    bucket.push_back(&hold);
    hold.place_in_slot = static_cast<std::uint32_t>(bucket.size() - 1);
  } catch (...) {
    hold.place_in_slot = kNowhere;  // out of memory
    ++missing_;
  }
}

void HoldsBySlot::remove(Tenancy& hold) noexcept {
  if (hold.place_in_slot == kNowhere) {
    --missing_;
    return;
  }
  const auto found = buckets_.find(slot_of(hold));
  Bucket& bucket = found->second;
  bucket[hold.place_in_slot] = bucket.back();
  bucket[hold.place_in_slot]->place_in_slot = hold.place_in_slot;
  bucket.pop_back();
  if (bucket.empty()) buckets_.erase(found);
}

void HoldsBySlot::add_due(Holds& to, std::uint16_t slot, TimePoint by) const {
  const auto found = buckets_.find(slot);
  if (found == buckets_.end()) return;
  for (Tenancy* const hold : found->second) {
    if (hold->scheduled <= by) Tenancy::add_to(to, *hold);
  }
}

bool HoldsBySlot::add_all(Scheduled& to, const redis::cluster::SlotSet& slots) const {
  for (const auto& [slot, bucket] : buckets_) {
    if (slot != kSeveral && !slots[slot]) continue;
    for (Tenancy* const hold : bucket) {
      to.emplace_back(hold->scheduled, nullptr).second = hold->weak_from_this().lock();
      if (!to.back().second) to.pop_back();
    }
  }
  return missing_ == 0;
}

}  // namespace holdfast::engine
