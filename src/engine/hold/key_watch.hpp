// The keys of holds on one server, which tells when they are changed (CLIENT TRACKING).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/decide/look.hpp"
#include "engine/decide/plan.hpp"
#include "engine/hold/tenancy.hpp"
#include "engine/hold/watched_keys.hpp"
#include "engine/loop/loop.hpp"
#include "redis/topology/shard.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {

/// A hold seems to have lost this key.
struct Doubt {
  std::string key;
  std::shared_ptr<Tenancy> hold;
  Spare spare;
};

/// On the loop. A lane of its own, made for the first key and kept: each key is looked at on it, again whenever it was
/// changed, and all of them on a new connection. Looks travel in batches, one batch under way at a time. What it finds
/// is a doubt, never a loss: its connection may reach another server than the one that takes the writes.
/// A key goes when its hold has ended, which its release tells as a change.
/// Renewals of what is watched go the same way, if they can: as transactions of which we are not told, so that nothing
/// has to be looked at behind them. They only go to the server that takes the writes: the lane leads to the address of
/// the one that all else uses and is as new, made anew when that is new, and not used while there is none. What comes
/// of them is believed then.
class KeyWatch {
 public:
  static constexpr std::size_t kMostAtOnce = 250;
  /// Behind a full batch.
  static constexpr Duration kBetweenBatches = milliseconds(10);

  KeyWatch(Runtime& runtime, redis::Shard& shard, std::function<void(const Doubt&)> doubt);

  /// Nothing, where the server has said that it does not tell.
  struct Entry {
    std::string key;
    std::shared_ptr<Tenancy> hold;
    WatchedKeys::Which which = WatchedKeys::kNone;
    Spare spare{};
  };
  void add(Entry entry);
  /// Moves what another server is to watch from now on, by its slots.
  void take(std::vector<Entry>& into, const redis::cluster::SlotSet& slots);
  /// It is certainly lost. True: it was watched until now.
  bool remove(const std::string& key, const Tenancy& hold);
  void on_connected();
  void on_disconnected();
  /// Whether the lane that all else uses is connected: it has just changed.
  void on_main(bool connected);
  /// Of holds whose keys are watched.
  bool takes_renewals() const { return state_ == State::on && as_main_ && may_be_untold_; }
  struct Renewal {
    base::Command command;
    std::vector<std::string> keys;  // whose changes are to be told
  };
  /// The handler gets a reply for each of them; an error, where it was not executed.
  void renew(std::vector<Renewal>&& renewals, Duration timeout, redis::ResultHandler handler);
  /// An array of keys; null: any may have been changed.
  void on_invalidated(const base::Reply& keys);
  void stop();

  /// What an answer to `ask_owner` says. `refused`: that this may not be asked.
  enum class Said { ours, not_ours, nothing, refused };
  static Said read(const redis::Result& result, std::size_t i, const Plan& plan, const wire::Owner& owner);

 private:
  struct Asked {
    WatchedKeys::Index key = 0;
    wire::Owner owner;
  };
  /// Refused: until the next connection.
  enum class State { off, on, refused };
  Runtime& runtime_;
  redis::Shard& shard_;
  const std::function<void(const Doubt&)> doubt_;
  timing::Alarm alarm_;

  State state_ = State::off;
  std::uint64_t connection_ = 0;  // counts them: looks of an earlier one mean nothing
  WatchedKeys keys_;
  std::unordered_map<WatchedKeys::Index, Look> looks_;  // of those that were looked at lately, or are to be
  std::size_t sweep_at_ = 0;
  TimePoint calm_at_{};  // when there was last no look to come, and the old ones were forgotten
  std::multimap<TimePoint, WatchedKeys::Index> due_;  // looks to come
  bool under_way_ = false;                            // one has been sent
  TimePoint next_batch_{};
  std::optional<Loop::Attended> attended_;  // as long as looks are to come, lest each step waits for a caller
  bool stopped_ = false;

  // Renewals.
  bool connected_ = false;
  bool main_connected_;
  bool as_main_ = false;        // connected as the main lane is, since it is, without a break of that
  bool may_be_untold_ = false;  // their transactions are permitted
  std::size_t renewing_ = 0;    // are under way

  void take_out(redis::Result& result);
  void on_tracked(const redis::Result& result);
  void on_changed(WatchedKeys::Index key, TimePoint now);
  void strike_off(WatchedKeys::Index key);
  void forget_old_looks(TimePoint now);
  void calm_down(TimePoint now);
  void ask_soon();
  void ask() noexcept;
  void try_to_ask();
  std::vector<base::Command> take_due(std::vector<Asked>& asked, TimePoint now);
  void on_reply(const std::vector<Asked>& asked, const redis::Result& result);
  void on_said(const Asked& asked, Said said, TimePoint now);
  void rest();
};

}  // namespace holdfast::engine
