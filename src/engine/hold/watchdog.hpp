// The one watchdog of a client: looks at every hold when it is due.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "base/guarded.hpp"
#include "engine/hold/confirmations.hpp"
#include "engine/hold/holds_by_slot.hpp"
#include "engine/hold/keeper.hpp"
#include "engine/hold/loss_watch.hpp"
#include "engine/hold/renewals.hpp"
#include "engine/hold/tenancy.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {

/// No thread, timer or allocation per hold: the schedule is an intrusive tree ordered by the time to look next.
/// What is in it is not kept alive by it, but by those who have claims on it, or are about to send or to read something
/// for it. With the last reference it leaves the schedule, and needs the mutex for that. So a reference that is taken
/// while the mutex is locked (Tenancy::add_to, or one of a weak pointer) must outlive that: it may be the last by then.
/// Deadlines are watched twice: by a timer on the loop, and on a thread of their own that the loop cannot hold up
/// (look_at_deadlines). That one also calls the loop when it is behind.
/// Threads: arm and disarm from any; the rest on the loop.
class Watchdog final : public Keeper {
 public:
  explicit Watchdog(Runtime& runtime);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void arm(const std::shared_ptr<Tenancy>& hold) override;
  bool disarm(Tenancy& hold) override;
  void look_now(const std::shared_ptr<Tenancy>& hold) override;
  /// A new connection to this server: every renewed hold there is asked for at once.
  void on_connected(const redis::Shard& shard);
  /// These slots have other servers: every renewed hold there is suspect, and asked for at once.
  void on_moved(const redis::cluster::SlotSet& slots);
  /// Whoever has lasted long enough is handed to it.
  LossWatch& loss_watch() { return loss_watch_; }
  /// The same of the lane for acks, and of those holds that want them.
  void on_acks_connected(const redis::Shard& shard);
  Confirmations& confirmations() { return confirmations_; }
  std::vector<std::shared_ptr<Tenancy>> armed();
  std::size_t holds() const;  ///< How many these are.
  /// The least that any of them is certainly valid for; empty: there are none, or none that stands. Looks at each of
  /// them, a few at a time, so that nobody waits for it.
  std::optional<Duration> lowest_validity() const;
  /// Whoever has not been looked at in time, and whose deadline is over, is lost, whatever the loop does. Returns when
  /// to look next; a hold that is armed with an earlier deadline wakes the signals' thread. Only on that thread.
  TimePoint look_at_deadlines() noexcept;
  void stop();
  /// Forgets all holds, without a word.
  void drop_all();

 private:
  using Hook = boost::intrusive::member_hook<Tenancy, Tenancy::Hook, &Tenancy::schedule_hook>;
  struct Earlier {
    bool operator()(const Tenancy& a, const Tenancy& b) const { return a.scheduled < b.scheduled; }
    bool operator()(const Tenancy& a, TimePoint b) const { return a.scheduled < b; }
    bool operator()(TimePoint a, const Tenancy& b) const { return a < b.scheduled; }
  };
  using Schedule = boost::intrusive::multiset<Tenancy, Hook, boost::intrusive::compare<Earlier>>;
  using Holds = Renewals::Holds;
  struct LookNow;

  /// Out of the schedule.
  void drop(Tenancy& hold) HOLDFAST_REQUIRES(mutex_);
  Holds in_slots(const redis::cluster::SlotSet& slots);
  Holds due_in_slots(const std::vector<std::uint16_t>& slots, TimePoint by) const;
  void set_alarm() noexcept;
  void on_alarm() noexcept;
  std::shared_ptr<Tenancy> find_overdue(TimePoint now, bool& late) HOLDFAST_REQUIRES(mutex_);
  void renew_at_once(const Holds& holds);
  void look(const Holds& holds, Renewals::When when) noexcept;
  static void watch_if_it_lasts(const std::shared_ptr<Tenancy>& hold, Renewals::When when) noexcept;
  /// Puts holds that are still armed at their new places.
  void reschedule(const Holds& holds) noexcept;

  Runtime& runtime_;
  Confirmations confirmations_;
  LossWatch loss_watch_;
  Renewals renewals_;
  timing::Alarm alarm_;  // on the loop
  TimePoint alarm_at_ HOLDFAST_GUARDED_BY(mutex_) = TimePoint::max();
  TimePoint watched_until_ HOLDFAST_GUARDED_BY(mutex_) = TimePoint::max();  // when deadlines are looked at next
  const std::shared_ptr<LookNow> look_now_;
  std::atomic<bool> called_{false};  // look_now_ was posted and has not run
  bool stopped_ = false;             // on the loop

  mutable base::Mutex mutex_;
  Schedule schedule_ HOLDFAST_GUARDED_BY(mutex_);
  const std::unique_ptr<HoldsBySlot> by_slot_ HOLDFAST_GUARDED_BY(mutex_);  // in a cluster; null: one server
};

}  // namespace holdfast::engine
