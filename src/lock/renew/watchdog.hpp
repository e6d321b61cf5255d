// SPDX-License-Identifier: Apache-2.0
// The one watchdog of a client: checks every hold when it is due, and renews many with one command.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lock/queue/tenancy.hpp"
#include "lock/renew/armed_holds.hpp"
#include "lock/renew/confirmations.hpp"
#include "lock/renew/key_watch.hpp"
#include "loop/alarm.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::engine {

/// Checks what is due, renews it, and tells each hold what the server has said. Deadlines are watched twice: by a timer
/// on the loop, and on the signal thread, which the loop cannot hold up (look_at_deadlines). That thread also calls the
/// loop if the loop is late.
/// Threads: unless stated otherwise, on the loop.
class Watchdog final {
 public:
  using Holds = ArmedHolds::Holds;

  explicit Watchdog(Runtime& runtime);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Its targets hand these over to it (Target).
  void arm(const std::shared_ptr<Tenancy>& hold);
  bool disarm(Tenancy& hold) { return armed_.remove(hold); }
  void look_now(const std::shared_ptr<Tenancy>& hold) { look(Holds(1, hold), When::due); }
  /// There is a new connection to this server: every renewed hold there is renewed at once.
  void on_connected(const redis::Shard& shard);
  /// These slots have other servers now: every renewed hold there is suspect, and renewed at once.
  void on_moved(const redis::cluster::SlotSet& slots);
  /// Holds that have lasted long enough are handed to it.
  LossWatch& loss_watch() { return loss_watch_; }
  /// There is a new connection of the lane for acks: every hold there that wants acks is renewed at once.
  void on_acks_connected(const redis::Shard& shard);
  Confirmations& confirmations() { return confirmations_; }
  Holds armed() { return armed_.all(); }
  std::size_t holds() const { return armed_.size(); }  ///< How many are armed. From any thread.
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
  struct LookNow;
  /// Which of them: those that are due, or also those that are due soon.
  enum class When { due, soon };
  /// One that is to be renewed, and where it shares a command with others.
  struct Due {
    std::shared_ptr<Tenancy> hold;
    BatchPlace place;
  };
  using Batch = std::vector<Due>;
  using Part = std::span<const Due>;

  void call_loop();
  void on_alarm() noexcept;
  void set_alarm() noexcept;
  void renew_at_once(const Holds& holds);
  void look(const Holds& holds, When when) noexcept;
  static void watch_if_it_lasts(const std::shared_ptr<Tenancy>& hold, When when) noexcept;
  /// Puts those that are still armed at their new places: see ArmedHolds::move.
  template <class... Which>
  void reschedule(const Which&... which) noexcept;

  /// Renews those that are due, which each decides by its own lease. Without memory they are suspect, and tried again.
  void renew_due(const Holds& holds, When when) noexcept;
  void try_to_renew_due(const Holds& holds, When when, Batch& chosen);
  /// Adds, to those that are due, others of the same slots, kinds and leases.
  void choose_in_same_slots(Batch& chosen, TimePoint now);
  void send_in_batches(const Batch& chosen, When when, TimePoint now);
  /// The way on which this one, which is due, may be renewed.
  KeyWatch* way_of(const Due& due, When when);
  /// Renews holds of one shard, kind and lease with one write, which has a command for each slot: one with a single
  /// server, in a cluster as many as there are holds at most, so `Config::renewal_batch` bounds them. Whatever has
  /// ended is left out: whoever leaves a lock with a shorter lease has said the last word. `way`: where their keys are
  /// watched. If it is null, or comes to nothing, they are renewed where all else is sent, at the server that takes the
  /// writes.
  void renew(Batch batch, TimePoint now, KeyWatch* way = nullptr);
  void send(Batch batch, TimePoint now, Duration late, KeyWatch* way);
  /// The holds of one command after another, each of which is for one slot.
  template <class Each>
  static void each_command(Part batch, const Each& each);
  /// Renews holds of one slot that want acks.
  void renew_with_acks(Batch batch, Duration late);
  /// What one command is to renew; it is counted.
  std::vector<wire::Renewal> renewals_of(Part batch);
  static std::size_t locks_of(Part batch);
  /// Lets the hold's target renew it, perhaps on several servers.
  void renew_alone(const std::shared_ptr<Tenancy>& hold, TimePoint now);

  void on_reply(Part batch, const redis::Result& result, Duration late) noexcept;
  /// Returns how many of them are renewed.
  std::size_t tell(Part batch, const Confirmed& found);
  void tell_renewed(std::size_t renewed, Duration late);
  void on_renewed_alone(const std::shared_ptr<Tenancy>& hold, const Renewed& renewed, Duration late);
  /// Does this work for them, and puts them at their new places. Without memory for it their renewals are unanswered.
  template <class Work>
  void fenced(Part batch, const Work& work) noexcept;
  /// What became of their renewals is not known.
  static void unanswered(Part batch, TimePoint now) noexcept;

  Runtime& runtime_;
  Confirmations confirmations_;
  LossWatch loss_watch_;
  ArmedHolds armed_;
  timing::Alarm alarm_;  // on the loop
  const std::shared_ptr<LookNow> look_now_;
};

}  // namespace holdfast::engine
