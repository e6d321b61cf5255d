// Renews holds, many with one command, and tells each of them what the server has said.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/hold/acquirable.hpp"
#include "engine/hold/confirmations.hpp"
#include "engine/hold/loss_watch.hpp"
#include "redis/connection/lane.hpp"

namespace holdfast::engine {

/// Of one client. On the loop.
class Renewals {
 public:
  using Holds = std::vector<std::shared_ptr<Tenancy>>;
  /// What the watchdog does for it.
  struct Hooks {
    /// These have changed: they are due at another time, or have ended.
    std::function<void(const Holds&)> changed;
    /// Those holds in these slots that are to be checked by then; none where there are no slots.
    std::function<Holds(const std::vector<std::uint16_t>& slots, TimePoint by)> due_in_slots;
  };
  Renewals(Runtime& runtime, Confirmations& confirmations, LossWatch& loss_watch, Hooks hooks);

  /// Which of them: those that are due, or also those that are due soon.
  enum class When { due, soon };
  /// Renews those that are due, which each decides by its own lease. Without memory they are suspect, and tried again.
  void ask_for(const Holds& holds, When when) noexcept;

 private:
  void try_to_ask_for(const Holds& holds, When when, Holds& chosen);
  /// Adds, to those that are due, others of the same slots, kinds and leases.
  void choose_in_same_slots(Holds& chosen, TimePoint now);
  void send_in_batches(const Holds& chosen, When when, TimePoint now);
  /// Renews holds of one shard, kind and lease with one write, which has a command for each slot: one with a single
  /// server, in a cluster as many as there are holds at most, so `Config::renewal_batch` bounds them. Whatever has
  /// ended is left out: whoever leaves a lock with a shorter lease has said the last word. `way`: where their keys are
  /// watched. If it is null, or comes to nothing, they are renewed where all else is sent, at the server that takes the
  /// writes.
  void renew(Holds batch, TimePoint now, KeyWatch* way = nullptr);
  /// The way on which this one, which is due, may be renewed.
  KeyWatch* way_of(const Tenancy& hold, const BatchPlace& place, When when);
  /// Renews holds of one slot that want acks.
  void renew_with_acks(Holds batch, Duration late);
  void on_reply(const Holds& batch, const std::vector<std::size_t>& sizes, const redis::Result& result,
                Duration late) noexcept;
  using Part = std::span<const std::shared_ptr<Tenancy>>;
  /// Returns how many of them are renewed.
  std::size_t tell(Part batch, const Confirmed& found);
  void tell_renewed(std::size_t renewed, Duration late);
  /// What became of their renewals is not known.
  static void unanswered(Part holds, TimePoint now) noexcept;
  /// Does this work for them, and says that they have changed. Without memory for it their renewals are unanswered.
  template <class Work>
  void fenced(const Holds& holds, const Work& work) noexcept;
  /// Lets the hold's target renew it, perhaps on several servers.
  void renew_alone(const std::shared_ptr<Tenancy>& hold, TimePoint now);
  void on_renewed_alone(const std::shared_ptr<Tenancy>& hold, const Renewed& renewed, Duration late);

  Runtime& runtime_;
  Confirmations& confirmations_;
  LossWatch& loss_watch_;
  const Hooks hooks_;
};

}  // namespace holdfast::engine
