// The one watchdog of a client: checks every hold when it is due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "base/guarded.hpp"
#include "engine/hold/confirmations.hpp"
#include "engine/hold/renewals.hpp"
#include "engine/hold/tenancy.hpp"
#include "redis/cluster/slot.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {

/// Which holds lie in which slot of a cluster. Of the holds that are armed; the watchdog guards it. A hold knows its
/// place here, so it is taken out at once.
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

/// No thread, timer or allocation per hold: the schedule is an intrusive tree, ordered by the time of the next check.
/// It does not keep holds alive. Those do who have claims on them, or are about to send or read something for them. A
/// hold leaves the schedule with its last reference, and needs the mutex for that. So a reference that is taken with
/// the mutex locked (Tenancy::add_to, or from a weak pointer) may be dropped only without it: it may be the last by
/// then. Deadlines are watched twice: by a timer on the loop, and on the signal thread, which the loop cannot hold up
/// (look_at_deadlines). That thread also calls the loop if the loop is late.
/// Threads: unless stated otherwise, on the loop.
class Watchdog final {
 public:
  explicit Watchdog(Runtime& runtime);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Its targets hand these over to it (Target).
  void arm(const std::shared_ptr<Tenancy>& hold);
  bool disarm(Tenancy& hold);
  void look_now(const std::shared_ptr<Tenancy>& hold);
  /// There is a new connection to this server: every renewed hold there is renewed at once.
  void on_connected(const redis::Shard& shard);
  /// These slots have other servers now: every renewed hold there is suspect, and renewed at once.
  void on_moved(const redis::cluster::SlotSet& slots);
  /// Holds that have lasted long enough are handed to it.
  LossWatch& loss_watch() { return loss_watch_; }
  /// There is a new connection of the lane for acks: every hold there that wants acks is renewed at once.
  void on_acks_connected(const redis::Shard& shard);
  Confirmations& confirmations() { return confirmations_; }
  std::vector<std::shared_ptr<Tenancy>> armed();
  std::size_t holds() const;  ///< How many are armed. From any thread.
  /// How long all of them are certainly valid; empty: there are none, or none that stands. Checks each of them, a few
  /// at a time, so that nobody has to wait for this. From any thread.
  std::optional<Duration> lowest_validity() const;
  /// A hold that was not checked in time, and whose deadline has passed, is lost, whatever the loop does. Returns when
  /// to check next; a hold that is armed with an earlier deadline wakes the signal thread. Only on that thread.
  TimePoint look_at_deadlines() noexcept;
  void stop();
  /// Forgets all holds, and notifies nobody.
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

  /// Takes it out of the schedule.
  void drop(Tenancy& hold) HOLDFAST_REQUIRES(mutex_);
  Holds in_slots(const redis::cluster::SlotSet& slots);
  Holds due_in_slots(const std::vector<std::uint16_t>& slots, TimePoint by) const;
  void call_loop();
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
  TimePoint watched_until_ HOLDFAST_GUARDED_BY(mutex_) = TimePoint::max();  // when deadlines are checked next
  const std::shared_ptr<LookNow> look_now_;
  bool stopped_ = false;  // on the loop

  mutable base::Mutex mutex_;
  Schedule schedule_ HOLDFAST_GUARDED_BY(mutex_);
  const std::unique_ptr<HoldsBySlot> by_slot_ HOLDFAST_GUARDED_BY(mutex_);  // in a cluster; null: one server
};

}  // namespace holdfast::engine
