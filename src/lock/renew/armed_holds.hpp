// SPDX-License-Identifier: Apache-2.0
// All holds of a client that are checked: by the time of the next check, and in a cluster by slot as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "base/guarded.hpp"
#include "lock/queue/tenancy.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::engine {

class HoldsBySlot;

/// No thread, timer or allocation per hold: the schedule is an intrusive tree, ordered by the time of the next check.
/// It does not keep holds alive. Those do who have claims on them, or are about to send or read something for them. A
/// hold leaves the schedule with its last reference, and needs the mutex for that. So a reference that is taken with
/// the mutex locked (Tenancy::add_to, or from a weak pointer) may be dropped only without it: it may be the last by
/// then. Thread-safe.
class ArmedHolds {
 public:
  using Holds = std::vector<std::shared_ptr<Tenancy>>;

  enum class Slots { none, of_a_cluster };
  explicit ArmedHolds(Slots slots);
  ~ArmedHolds();
  ArmedHolds(const ArmedHolds&) = delete;
  ArmedHolds& operator=(const ArmedHolds&) = delete;

  /// Who must be woken for it, since they look later than it is due.
  struct Wakes {
    bool loop = false;
    bool signal_thread = false;
  };
  /// Adds it, or puts it at its new place.
  Wakes add(Tenancy& hold);
  /// False: it is not there.
  bool remove(Tenancy& hold);
  /// Puts those of them that are there at their new places, and drops those that have ended. The caller keeps them
  /// alive, so none is destroyed with the mutex locked.
  template <class Range, class HoldOf = std::identity>
  void move(const Range& range, HoldOf hold_of = {}) noexcept {
    const base::Guard guard(mutex_);
    for (const auto& each : range) move(*std::invoke(hold_of, each));
  }

  // For the loop.
  /// When it is to look next, if that is earlier than what this has said before.
  std::optional<TimePoint> earlier_alarm();
  /// The loop looks: those that are due, and those that are due soon. Each decides by its own lease whether it is due
  /// soon enough. If memory fails, those for which there was some have been added.
  void add_due(Holds& to);
  /// Those in these slots of a cluster that are to be checked by then.
  Holds due_in(const std::vector<std::uint16_t>& slots, TimePoint by) const;
  /// Those that lie in one of these slots, or in several slots, in the order of their times. Empty: not all are known.
  std::optional<Holds> in(const redis::cluster::SlotSet& slots) const;

  // For the signal thread.
  /// A hold that was not checked in time, and whose deadline has passed, is lost. Returns when to look next. `late`:
  /// some were not checked in time.
  TimePoint look_at_deadlines(bool& late) noexcept;

  Holds all();
  std::size_t size() const;
  /// See Watchdog::lowest_validity.
  std::optional<Duration> lowest_validity() const;

 private:
  using Hook = boost::intrusive::member_hook<Tenancy, Tenancy::Hook, &Tenancy::schedule_hook>;
  struct Earlier {
    bool operator()(const Tenancy& a, const Tenancy& b) const { return a.scheduled < b.scheduled; }
    bool operator()(const Tenancy& a, TimePoint b) const { return a.scheduled < b; }
    bool operator()(TimePoint a, const Tenancy& b) const { return a < b.scheduled; }
  };
  using Schedule = boost::intrusive::multiset<Tenancy, Hook, boost::intrusive::compare<Earlier>>;

  void move(Tenancy& hold) noexcept HOLDFAST_REQUIRES(mutex_);
  void drop(Tenancy& hold) HOLDFAST_REQUIRES(mutex_);
  TimePoint next_look() const HOLDFAST_REQUIRES(mutex_);
  std::shared_ptr<Tenancy> find_overdue(TimePoint now, bool& late) HOLDFAST_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  Schedule schedule_ HOLDFAST_GUARDED_BY(mutex_);
  const std::unique_ptr<HoldsBySlot> by_slot_ HOLDFAST_GUARDED_BY(mutex_);  // null: one server
  TimePoint alarm_at_ HOLDFAST_GUARDED_BY(mutex_) = TimePoint::max();       // when the loop looks next
  TimePoint watched_until_ HOLDFAST_GUARDED_BY(mutex_) = TimePoint::max();  // when deadlines are checked next
};

}  // namespace holdfast::engine
