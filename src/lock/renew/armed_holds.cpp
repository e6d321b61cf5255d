// SPDX-License-Identifier: Apache-2.0
#include "lock/renew/armed_holds.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "lock/hold/hold_events.hpp"
#include "lock/queue/target.hpp"

namespace holdfast::engine {

/// Which holds lie in which slot of a cluster. Of the holds that are armed. A hold knows its place here, so it is taken
/// out at once.
class HoldsBySlot {
 public:
  using Holds = ArmedHolds::Holds;

  void add(Tenancy& hold) noexcept;
  void remove(Tenancy& hold) noexcept;
  /// Those of one slot that are to be checked by then.
  void add_due(Holds& to, std::uint16_t slot, TimePoint by) const;
  /// Those that lie in one of these slots, and all that lie in several slots, with the times when they are to be
  /// checked. False: some are missing, since there was no memory for their places.
  using Scheduled = std::vector<std::pair<TimePoint, std::shared_ptr<Tenancy>>>;
  bool add_all(Scheduled& to, const redis::cluster::SlotSet& slots) const;

 private:
  using Bucket = std::vector<Tenancy*>;
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  static constexpr std::uint32_t kSeveral = redis::cluster::kSlots;  // not a slot: for what lies in several
  static std::uint32_t slot_of(const Tenancy& hold);

  std::unordered_map<std::uint32_t, Bucket> buckets_;
  std::size_t missing_ = 0;
};

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

using base::Clock;

namespace {

/// The loop checks first; what it has not checked this much later is late.
constexpr milliseconds kBehindTheLoop{1};
/// As long as holds are late, deadlines are checked this often.
constexpr milliseconds kWhileLate{5};
/// So many are checked before the mutex is unlocked for those who take or release a lock.
constexpr std::size_t kLooksAtOnce = 500;

}  // namespace

ArmedHolds::ArmedHolds(Slots slots) : by_slot_(slots == Slots::none ? nullptr : std::make_unique<HoldsBySlot>()) {}
ArmedHolds::~ArmedHolds() = default;

ArmedHolds::Wakes ArmedHolds::add(Tenancy& hold) {
  const base::Guard guard(mutex_);
  if (hold.armed) {
    schedule_.erase(schedule_.iterator_to(hold));
  } else if (by_slot_) {
    by_slot_->add(hold);
  }
  hold.scheduled = hold.due();
  hold.armed = true;
  schedule_.insert(hold);
  // The signal thread wakes up now and then anyway, and is not woken for later deadlines: few holds, if any, wake it.
  const bool unwatched = hold.scheduled < watched_until_;
  if (unwatched) watched_until_ = hold.scheduled;
  return {.loop = hold.scheduled < alarm_at_, .signal_thread = unwatched};
}

bool ArmedHolds::remove(Tenancy& hold) {
  const base::Guard guard(mutex_);
  if (!hold.armed) return false;
  drop(hold);
  return true;
}

void ArmedHolds::drop(Tenancy& hold) {
  schedule_.erase(schedule_.iterator_to(hold));
  if (by_slot_) by_slot_->remove(hold);
  hold.armed = false;
}

void ArmedHolds::move(Tenancy& hold) noexcept {
  if (!hold.armed) return;
  if (hold.ended()) return drop(hold);
  schedule_.erase(schedule_.iterator_to(hold));
  hold.scheduled = hold.due();
  schedule_.insert(hold);
}

// ---- for the loop ----

std::optional<TimePoint> ArmedHolds::earlier_alarm() {
  const base::Guard guard(mutex_);
  // An alarm that rings too early, for a hold that is gone, is cheaper than one that moves with every hold.
  if (schedule_.empty() || schedule_.begin()->scheduled >= alarm_at_) return std::nullopt;
  return alarm_at_ = schedule_.begin()->scheduled;
}

void ArmedHolds::add_due(Holds& to) {
  const base::Guard guard(mutex_);
  alarm_at_ = TimePoint::max();
  const TimePoint now = Clock::now();
  if (schedule_.empty() || schedule_.begin()->scheduled > now) return;
  const Duration window = batching_window(schedule_.begin()->lease());
  for (Tenancy& hold : schedule_) {
    if (hold.scheduled > now + window) break;
    Tenancy::add_to(to, hold);
  }
}

ArmedHolds::Holds ArmedHolds::due_in(const std::vector<std::uint16_t>& slots, TimePoint by) const {
  Holds holds;
  const base::Guard guard(mutex_);
  for (const std::uint16_t slot : slots) by_slot_->add_due(holds, slot, by);
  return holds;
}

std::optional<ArmedHolds::Holds> ArmedHolds::in(const redis::cluster::SlotSet& slots) const {
  HoldsBySlot::Scheduled found;
  {
    const base::Guard guard(mutex_);
    if (!by_slot_->add_all(found, slots)) return std::nullopt;
  }
  std::ranges::sort(found, {}, [](const auto& each) { return each.first; });
  Holds holds;
  holds.reserve(found.size());
  for (auto& each : found) holds.push_back(std::move(each.second));
  return holds;
}

// ---- for the signal thread ----

TimePoint ArmedHolds::next_look() const {
  return watched_until_ == TimePoint::max() ? TimePoint::max() : watched_until_ + kBehindTheLoop;
}

TimePoint ArmedHolds::look_at_deadlines(bool& late) noexcept {
  for (;;) {
    std::shared_ptr<Tenancy> overdue;
    bool lost = false;
    {
      const base::Guard guard(mutex_);
      const TimePoint now = Clock::now();
      if (now >= next_look()) overdue = find_overdue(now, late);
      if (!overdue) return next_look();
      lost = overdue->expire(now);
      if (lost) drop(*overdue);
    }
    if (lost) end_lost(*overdue, Claim::StopIn::signal_thread);
  }
}

/// A hold whose deadline has passed, and which is not lost yet. It is returned as a reference, since whoever sees that
/// it is lost may let go of it, and the loss must be announced all the same. If there is none: decides when to check
/// next.
std::shared_ptr<Tenancy> ArmedHolds::find_overdue(TimePoint now, bool& late) {
  late = false;
  TimePoint next = TimePoint::max();
  for (Tenancy& hold : schedule_) {
    if (hold.scheduled > now) {
      next = hold.scheduled;
      break;
    }
    if (hold.ended()) continue;
    late = true;
    if (hold.valid_for(now) > Duration{}) continue;
    if (std::shared_ptr<Tenancy> overdue = hold.weak_from_this().lock()) return overdue;
  }
  const TimePoint looked = Clock::now();  // a million of them take a while, in which nobody else comes in
  watched_until_ = late ? looked + std::max<Duration>(kWhileLate, 20 * (looked - now)) : next;
  return nullptr;
}

// ---- all of them ----

ArmedHolds::Holds ArmedHolds::all() {
  Holds holds;
  const base::Guard guard(mutex_);
  holds.reserve(schedule_.size());
  for (Tenancy& hold : schedule_) Tenancy::add_to(holds, hold);
  return holds;
}

std::size_t ArmedHolds::size() const {
  const base::Guard guard(mutex_);
  return schedule_.size();
}

/// A hold that is renewed meanwhile moves to a later place and is checked once more, which does no harm.
std::optional<Duration> ArmedHolds::lowest_validity() const {
  std::optional<Duration> lowest;
  std::shared_ptr<const Tenancy> last;  // goes without the mutex
  TimePoint its_time{};
  for (bool more = true; more;) {
    std::shared_ptr<const Tenancy> reached;
    {
      const base::Guard guard(mutex_);
      const TimePoint now = Clock::now();
      auto next = schedule_.begin();
      if (last && last->armed && last->scheduled == its_time) {
        next = std::next(schedule_.iterator_to(*last));
      } else if (last) {
        next = schedule_.lower_bound(its_time, Earlier());
      }
      std::size_t looked_at = 0;
      for (; next != schedule_.end() && !reached; ++next) {
        const Duration left = next->valid_for(now);
        if (left > Duration{} && (!lowest || left < *lowest)) lowest = left;
        if (++looked_at < kLooksAtOnce) continue;
        reached = next->weak_from_this().lock();
        its_time = next->scheduled;
      }
      more = next != schedule_.end();
    }
    last.swap(reached);
  }
  return lowest;
}

}  // namespace holdfast::engine
