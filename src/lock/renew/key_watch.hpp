// SPDX-License-Identifier: Apache-2.0
// The keys of holds on one server, which reports when they are changed (CLIENT TRACKING).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kinds/plan.hpp"
#include "lock/decide/lease.hpp"
#include "lock/queue/tenancy.hpp"
#include "loop/alarm.hpp"
#include "loop/loop.hpp"
#include "redis/decide/slot.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::engine {

// A table of the keys that are watched.

/// How many members of a group may still lose a hold that is not renewed. Shared by its keys. Null: it has one server.
using Spare = std::shared_ptr<std::atomic<int>>;

/// There may be millions of keys, so for nearly all the text is not kept: a key is found by its hash, and the target
/// knows its text. Of two keys with one hash both are found.
class WatchedKeys {
 public:
  /// Of an entry, as long as it is there.
  using Index = std::uint32_t;
  /// Which of the locks of the hold's own target; kNone: it is a lock of a group's member.
  using Which = std::uint16_t;
  static constexpr Which kNone = 0xffff;

  Index add(std::string key, std::uint16_t slot, const std::shared_ptr<Tenancy>& hold, Which which, Spare spare);
  void erase(Index index) noexcept;
  void clear();
  std::vector<Index> find(std::string_view key) const;
  std::vector<Index> all() const;
  std::vector<Index> in(const redis::cluster::SlotSet& slots) const;

  std::shared_ptr<Tenancy> hold(Index index) const { return entries_[index].hold.lock(); }
  /// `hold`: the one that this key is of.
  std::string key(Index index, const Tenancy& hold) const;
  Which which(Index index) const { return entries_[index].which; }
  Spare spare(Index index) const;
  /// From now on it is as if the key's hold had ended.
  void leave(Index index) { entries_[index].hold.reset(); }

 private:
  static constexpr Index kEnd = UINT32_MAX;
  struct Entry {
    std::weak_ptr<Tenancy> hold;
    std::uint32_t hash = 0;
    Index next = kEnd;  // in the same bucket, or among those that are free
    std::uint16_t slot = 0;
    Which which = kNone;
    bool used = false;
  };
  struct OfGroup {
    std::string key;
    Spare spare;
  };
  static std::uint32_t hash_of(std::string_view key);
  Index& bucket_of(std::uint32_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }
  void grow();

  std::deque<Entry> entries_;
  std::vector<Index> buckets_;  // a power of two of them, or none
  Index free_ = kEnd;
  std::size_t used_ = 0;
  std::unordered_map<Index, OfGroup> of_groups_;
};

/// On the loop. It has a lane of its own, made for the first key and kept. Each key is read on it, again whenever it
/// was changed, and all of them on a new connection. Such looks travel in batches, one batch at a time. What they find
/// is a doubt, never a loss: this connection may reach another server than the one that takes the writes. Whether a
/// doubt is a loss is decided by that one: by a renewal at once or, where no more of them are to come, by the same
/// question on the main lane. A key is no longer watched once its hold has ended, which the release makes known as a
/// change. Renewals of what is watched go the same way if they can: as transactions that cause no notice, so that
/// nothing has to be read after them. They must reach the server that takes the writes, or their replies would not
/// count: so this lane leads to the address of the main lane, is made anew whenever that one is, and is not used while
/// there is none.
class KeyWatch {
 public:
  static constexpr std::size_t kMostAtOnce = 250;
  /// After a full batch.
  static constexpr Duration kBetweenBatches = milliseconds(10);

  KeyWatch(Runtime& runtime, redis::Shard& shard);

  /// A key, and what it is watched for.
  struct Entry {
    std::string key;
    std::shared_ptr<Tenancy> hold;
    WatchedKeys::Which which = WatchedKeys::kNone;
    Spare spare{};
  };
  /// No effect if the server has refused to report changes.
  void add(Entry entry);
  /// Moves what lies in these slots, which another server is to watch from now on.
  void take(std::vector<Entry>& into, const redis::cluster::SlotSet& slots);
  void on_connected();
  void on_disconnected();
  /// Whether the main lane is connected, which has just changed.
  void on_main(bool connected);
  /// Renewals of holds whose keys are watched may go this way.
  bool takes_renewals() const { return state_ == State::on && as_main_ && may_be_untold_; }
  struct Renewal {
    base::Command command;
    std::vector<std::string> keys;  // the server is to go on reporting their changes
  };
  /// The handler gets a reply for each of them: an error for one that was not executed.
  void renew(std::vector<Renewal>&& renewals, Duration timeout, redis::ResultHandler handler);
  /// An array of keys; null: any may have been changed.
  void on_invalidated(const base::Reply& keys);
  void stop();

 private:
  /// A hold seems to have lost this key.
  struct Doubt {
    std::string key;
    std::shared_ptr<Tenancy> hold;
    Spare spare;
  };
  /// What an answer to `ask_owner` says. `refused`: we may not ask that.
  enum class Said { ours, not_ours, nothing, refused };
  struct Asked {
    WatchedKeys::Index key = 0;
    wire::Owner owner;
  };
  /// `refused`: until the next connection.
  enum class State { off, on, refused };
  Runtime& runtime_;
  redis::Shard& shard_;
  timing::Alarm alarm_;

  State state_ = State::off;
  std::uint64_t connection_ = 0;  // a number: what was read on an earlier one means nothing
  WatchedKeys keys_;
  std::unordered_map<WatchedKeys::Index, Look> looks_;  // of keys that were read lately, or are to be read
  std::size_t sweep_at_ = 0;
  TimePoint calm_at_{};  // the last time that no look was to come, and old ones were forgotten
  std::multimap<TimePoint, WatchedKeys::Index> due_;  // looks to come
  bool under_way_ = false;                            // a batch of them was sent
  TimePoint next_batch_{};
  std::optional<Loop::Attended> attended_;  // as long as looks are to come, so that no step waits for a caller

  // Renewals.
  bool connected_ = false;
  bool main_connected_;
  bool as_main_ = false;        // connected to the same address as the main lane, and that has not broken since
  bool may_be_untold_ = false;  // their transactions are permitted
  std::size_t renewing_ = 0;    // are under way

  /// Made with the first call.
  redis::Lane& lane() { return shard_.side_lane(redis::Side::watch); }
  void take_out(redis::Result& result);
  void on_tracked(const redis::Result& result);
  void on_changed(WatchedKeys::Index key, TimePoint now);
  void strike_off(WatchedKeys::Index key);
  std::shared_ptr<Tenancy> hold_of(WatchedKeys::Index key);
  void forget_old_looks(TimePoint now);
  void calm_down(TimePoint now);
  void ask_soon();
  void ask() noexcept;
  void try_to_ask();
  std::vector<base::Command> take_due(std::vector<Asked>& asked, TimePoint now);
  void on_reply(const std::vector<Asked>& asked, const redis::Result& result);
  static Said read(const redis::Result& result, std::size_t i, const Plan& plan, const wire::Owner& owner);
  void on_said(const Asked& asked, Said said, TimePoint now);
  void on_doubt(const Doubt& doubt);
  static void renew_now(const std::shared_ptr<Tenancy>& hold);
  void ask_main(const Doubt& doubt);
  /// It is certainly lost, and no longer watched. True: it was watched until now.
  bool remove(const std::string& key, const Tenancy& hold);
  void rest();
};

/// Finds the losses that the server knows of first: watches the keys of holds that last. Of one client, for each of its
/// servers. On the loop.
class LossWatch {
 public:
  explicit LossWatch(Runtime& runtime) : runtime_(runtime) {}

  /// Watches a key of a hold, which may be another client's. No effect if this client is not to watch.
  void watch(KeyWatch::Entry entry);
  /// About the lane that watches this server.
  void on_connected(redis::Shard& shard) { of(shard).on_connected(); }
  void on_disconnected(redis::Shard& shard) { of(shard).on_disconnected(); }
  void on_invalidated(redis::Shard& shard, const base::Reply& keys) { of(shard).on_invalidated(keys); }
  /// About the server's main lane.
  void on_main(redis::Shard& shard, bool connected);
  /// Where keys of this server are watched, if renewals may go that way: see KeyWatch. Null: they use the main lane.
  KeyWatch* way_for_renewals(redis::Shard& shard);
  /// These slots are served by other shards now, which are to watch what lies there.
  void on_moved(const redis::cluster::SlotSet& slots);
  void stop();

 private:
  KeyWatch& of(redis::Shard& shard) { return by_shard_.try_emplace(&shard, runtime_, shard).first->second; }

  Runtime& runtime_;
  std::map<redis::Shard*, KeyWatch> by_shard_;
};

}  // namespace holdfast::engine
