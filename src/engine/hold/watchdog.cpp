#include "engine/hold/watchdog.hpp"

#include <algorithm>
#include <atomic>

#include "engine/hold/hold_events.hpp"
#include "engine/runtime/runtime.hpp"

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

using base::Clock;

namespace {

/// The loop checks first; what it has not checked this much later is late.
constexpr milliseconds kBehindTheLoop{1};
/// As long as holds are late, deadlines are checked this often.
constexpr milliseconds kWhileLate{5};
/// So many are checked before the mutex is unlocked for those who take or release a lock.
constexpr std::size_t kLooksAtOnce = 500;

}  // namespace

/// Calls the loop, from another thread: there is something due that it does not know of, or is late for.
struct Watchdog::LookNow final : Loop::Task {
  explicit LookNow(Watchdog& whose) : watchdog(whose) {}
  void run() override {
    posted.store(false);
    watchdog.on_alarm();
  }
  Watchdog& watchdog;
  std::atomic<bool> posted{false};  // and has not run
};

Watchdog::Watchdog(Runtime& runtime)
    : runtime_(runtime),
      confirmations_(runtime),
      loss_watch_(runtime),
      renewals_(runtime, confirmations_, loss_watch_,
                {.changed = [this](const Holds& holds) { reschedule(holds); },
                 .due_in_slots = [this](const std::vector<std::uint16_t>& slots,
                                        TimePoint by) { return due_in_slots(slots, by); }}),
      alarm_(runtime.loop().schedule(), [this] { on_alarm(); }),
      look_now_(std::make_shared<LookNow>(*this)),
      by_slot_(runtime.config().cluster.addresses.empty() ? nullptr : std::make_unique<HoldsBySlot>()) {}

Watchdog::~Watchdog() = default;

void Watchdog::arm(const std::shared_ptr<Tenancy>& hold) {
  bool first = false;
  bool unwatched = false;
  {
    const base::Guard guard(mutex_);
    if (hold->armed) {
      schedule_.erase(schedule_.iterator_to(*hold));
    } else if (by_slot_) {
      by_slot_->add(*hold);
    }
    hold->scheduled = hold->due();
    hold->armed = true;
    schedule_.insert(*hold);
    first = hold->scheduled < alarm_at_;
    // The signal thread wakes up now and then anyway, and is not woken for later deadlines: few holds, if any, wake it.
    unwatched = hold->scheduled < watched_until_;
    if (unwatched) watched_until_ = hold->scheduled;
  }
  if (unwatched) runtime_.signals().wake();
  if (first) call_loop();
}

void Watchdog::call_loop() {
  if (!look_now_->posted.exchange(true)) runtime_.loop().post(look_now_);
}

TimePoint Watchdog::look_at_deadlines() noexcept {
  bool late = false;
  for (;;) {
    std::shared_ptr<Tenancy> overdue;
    bool lost = false;
    {
      const base::Guard guard(mutex_);
      if (watched_until_ == TimePoint::max()) break;
      const TimePoint now = Clock::now();
      if (now < watched_until_ + kBehindTheLoop) break;
      overdue = find_overdue(now, late);
      lost = overdue && overdue->expire(now);
      if (lost) drop(*overdue);
    }
    if (!overdue) break;
    if (lost) end_lost(*overdue, Claim::StopIn::signal_thread);
  }
  if (late) call_loop();
  const base::Guard guard(mutex_);
  return watched_until_ == TimePoint::max() ? TimePoint::max() : watched_until_ + kBehindTheLoop;
}

/// A hold whose deadline has passed, and which is not lost yet. It is returned as a reference, since whoever sees that
/// it is lost may let go of it, and the loss must be announced all the same. If there is none: decides when to check
/// next.
std::shared_ptr<Tenancy> Watchdog::find_overdue(TimePoint now, bool& late) {
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

void Watchdog::drop(Tenancy& hold) {
  schedule_.erase(schedule_.iterator_to(hold));
  if (by_slot_) by_slot_->remove(hold);
  hold.armed = false;
}

bool Watchdog::disarm(Tenancy& hold) {
  const base::Guard guard(mutex_);
  if (!hold.armed) return false;
  drop(hold);
  return true;
}

std::vector<std::shared_ptr<Tenancy>> Watchdog::armed() {
  Holds holds;
  const base::Guard guard(mutex_);
  holds.reserve(schedule_.size());
  for (Tenancy& hold : schedule_) Tenancy::add_to(holds, hold);
  return holds;
}

std::size_t Watchdog::holds() const {
  const base::Guard guard(mutex_);
  return schedule_.size();
}

/// A hold that is renewed meanwhile moves to a later place and is checked once more, which does no harm.
std::optional<Duration> Watchdog::lowest_validity() const {
  if (runtime_.in_child()) return {};  // none is valid here, and the schedule still has those that are gone
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

void Watchdog::on_connected(const redis::Shard& shard) {
  confirmations_.end_era(shard);
  Holds holds = armed();
  std::erase_if(holds, [&](const auto& hold) { return !hold->target()->stands_on(shard); });
  renew_at_once(holds);
}

/// The notices come first: what they check comes to nothing if the renewals find it.
void Watchdog::on_moved(const redis::cluster::SlotSet& slots) {
  confirmations_.on_moved(slots);
  loss_watch_.on_moved(slots);
  const Holds holds = in_slots(slots);
  const TimePoint now = Clock::now();
  for (const std::shared_ptr<Tenancy>& hold : holds) engine::on_moved(*hold, now);
  look(holds, Renewals::When::due);
}

/// In the order of their times.
Watchdog::Holds Watchdog::in_slots(const redis::cluster::SlotSet& slots) {
  HoldsBySlot::Scheduled found;
  bool all = false;
  {
    const base::Guard guard(mutex_);
    all = by_slot_->add_all(found, slots);
  }
  std::ranges::sort(found, {}, [](const auto& each) { return each.first; });
  Holds holds;
  if (all) {
    holds.reserve(found.size());
    for (auto& each : found) holds.push_back(std::move(each.second));
  } else {
    holds = armed();
  }
  std::erase_if(holds, [&](const auto& hold) { return !hold->target()->lies_in(runtime_, slots); });
  return holds;
}

Watchdog::Holds Watchdog::due_in_slots(const std::vector<std::uint16_t>& slots, TimePoint by) const {
  Holds holds;
  const base::Guard guard(mutex_);
  if (by_slot_ == nullptr) return holds;
  for (const std::uint16_t slot : slots) by_slot_->add_due(holds, slot, by);
  return holds;
}

void Watchdog::on_acks_connected(const redis::Shard& shard) {
  confirmations_.on_connected(shard);
  Holds holds = armed();
  std::erase_if(holds, [&](const auto& hold) { return !hold->acks().wanted() || !hold->target()->stands_on(shard); });
  renew_at_once(holds);
}

void Watchdog::renew_at_once(const Holds& holds) {
  const TimePoint now = Clock::now();
  for (const std::shared_ptr<Tenancy>& hold : holds) hold->on_reconnect(now);
  look(holds, Renewals::When::due);
}

void Watchdog::look_now(const std::shared_ptr<Tenancy>& hold) { look(Holds(1, hold), Renewals::When::due); }

void Watchdog::stop() {
  stopped_ = true;
  alarm_.cancel();
  loss_watch_.stop();
  confirmations_.stop();
}

void Watchdog::drop_all() {
  confirmations_.drop_all();
  for (const std::shared_ptr<Tenancy>& hold : armed()) {
    disarm(*hold);
    hold->drop_watches();
  }
}

void Watchdog::set_alarm() noexcept {
  if (stopped_) return;
  TimePoint next = TimePoint::max();
  {
    const base::Guard guard(mutex_);
    if (!schedule_.empty()) next = schedule_.begin()->scheduled;
    // An alarm that rings too early, for a hold that is gone, is cheaper than one that moves with every hold.
    if (next >= alarm_at_) return;
    alarm_at_ = next;
  }
  alarm_.set(next);
}

void Watchdog::on_alarm() noexcept {
  Holds due;
  try {
    const base::Guard guard(mutex_);
    alarm_at_ = TimePoint::max();
    const TimePoint now = Clock::now();
    if (!schedule_.empty() && schedule_.begin()->scheduled <= now) {
      // Takes along what is due soon; each hold decides by its own lease whether it is due soon enough.
      const Duration window = batching_window(schedule_.begin()->lease());
      for (Tenancy& hold : schedule_) {
        if (hold.scheduled > now + window) break;
        Tenancy::add_to(due, hold);
      }
    }
  } catch (const std::bad_alloc&) {
    // Those for which there is memory; the others are late, and are checked next.
  }
  look(due, Renewals::When::soon);
}

void Watchdog::watch_if_it_lasts(const std::shared_ptr<Tenancy>& hold, Renewals::When when) noexcept {
  const Duration early = when == Renewals::When::soon ? batching_window(hold->lease()) : Duration{};
  if (!hold->begin_watch(Clock::now(), early)) return;
  try {
    hold->target()->watch(hold);
  } catch (...) {
    // Out of memory: a renewal or its deadline finds its loss.
  }
}

void Watchdog::look(const Holds& holds, Renewals::When when) noexcept {
  for (const std::shared_ptr<Tenancy>& hold : holds) watch_if_it_lasts(hold, when);
  renewals_.ask_for(holds, when);
  reschedule(holds);
}

/// The caller keeps them alive, so none is destroyed with the mutex locked.
void Watchdog::reschedule(const Holds& holds) noexcept {
  {
    const base::Guard guard(mutex_);
    for (const std::shared_ptr<Tenancy>& hold : holds) {
      if (!hold->armed) continue;  // disarmed meanwhile
      if (hold->ended()) {
        drop(*hold);
        continue;
      }
      schedule_.erase(schedule_.iterator_to(*hold));
      hold->scheduled = hold->due();
      schedule_.insert(*hold);
    }
  }
  set_alarm();
}

}  // namespace holdfast::engine
