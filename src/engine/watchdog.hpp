// The one watchdog of a client: looks at every hold when it is due, and renews many with one command.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/intrusive/set.hpp>

#include "engine/held_lock.hpp"
#include "engine/reporter.hpp"
#include "engine/target.hpp"
#include "redis/lane.hpp"

namespace holdfast::engine {

/// No thread, timer or allocation per hold: the schedule is an intrusive tree ordered by the time to look next.
/// Threads: arm and disarm from any; the rest on the loop.
class Watchdog {
 public:
  struct Settings {
    std::size_t batch;
    Duration command_timeout;
  };
  /// `core` is the one that this belongs to.
  Watchdog(Core& core, Settings settings);

  void arm(const std::shared_ptr<HeldLock>& hold);
  /// After this the hold is not looked at or renewed any more, whatever is under way.
  void disarm(HeldLock& hold);
  /// A new connection: every renewed hold is asked for at once.
  void on_connected();
  std::vector<std::shared_ptr<HeldLock>> armed() const;
  /// When it must be given the loop; from any thread.
  TimePoint next_look() const;
  void stop();
  /// Forgets all holds, without a word.
  void drop_all();

 private:
  using Hook = boost::intrusive::member_hook<HeldLock, HeldLock::Hook, &HeldLock::schedule_hook>;
  struct Earlier {
    bool operator()(const HeldLock& a, const HeldLock& b) const { return a.scheduled < b.scheduled; }
  };
  using Schedule = boost::intrusive::multiset<HeldLock, Hook, boost::intrusive::compare<Earlier>>;
  using Holds = std::vector<std::shared_ptr<HeldLock>>;

  void set_timer();
  void on_timer();
  void look(const Holds& holds, bool early);
  /// Renews holds of one kind with one command.
  void renew(Holds batch, TimePoint now);
  void on_reply(const Holds& batch, const redis::Result& result, Duration late);
  /// Lets the hold's target renew it, on several servers perhaps.
  void renew_alone(const std::shared_ptr<HeldLock>& hold, TimePoint now);
  void on_renewed_alone(const std::shared_ptr<HeldLock>& hold, const Target::Renewed& renewed, Duration late);
  /// Puts holds that are still armed at their new places.
  void reschedule(const Holds& holds);

  Core& core_;
  Reporter& reporter_;
  const Settings settings_;
  boost::asio::basic_waitable_timer<base::Clock> timer_;  // on the loop
  TimePoint timer_at_ = TimePoint::max();                 // guarded by mutex_
  bool stopped_ = false;                                  // on the loop

  mutable std::mutex mutex_;
  Schedule schedule_;  // guarded by mutex_
};

}  // namespace holdfast::engine
