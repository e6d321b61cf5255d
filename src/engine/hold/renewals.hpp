// Renews holds, many with one command, and tells each of them what the server has said.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/hold/confirmations.hpp"
#include "engine/hold/key_watch.hpp"
#include "engine/hold/target.hpp"
#include "redis/connection/lane.hpp"

namespace holdfast::engine {

/// Finds the losses that the server knows of first: watches the keys of holds that last. Of one client, for each of its
/// servers. Whether a doubt is a loss is decided by the server that takes the writes: by a renewal at once or, where no
/// more of them are to come, by the same question on the main lane. On the loop.
class LossWatch {
 public:
  explicit LossWatch(Runtime& runtime);

  /// Watches a key of a hold, which may be another client's. No effect if this client is not to watch.
  void watch(KeyWatch::Entry entry);
  /// About the lane that watches this server.
  void on_connected(redis::Shard& shard);
  void on_disconnected(redis::Shard& shard);
  void on_invalidated(redis::Shard& shard, const base::Reply& keys);
  /// About the server's main lane.
  void on_main(redis::Shard& shard, bool connected);
  /// Where keys of this server are watched, if renewals may go that way: see KeyWatch. Null: they use the main lane.
  KeyWatch* way_for_renewals(redis::Shard& shard);
  /// These slots are served by other shards now, which are to watch what lies there.
  void on_moved(const redis::cluster::SlotSet& slots);
  void stop();

 private:
  KeyWatch& of(redis::Shard& shard);
  void on_doubt(redis::Shard& shard, const Doubt& doubt);
  void ask(redis::Shard& shard, const Doubt& doubt);
  static void renew(const std::shared_ptr<Tenancy>& hold);

  Runtime& runtime_;
  std::map<redis::Shard*, KeyWatch> by_shard_;
  bool stopped_ = false;
};

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
