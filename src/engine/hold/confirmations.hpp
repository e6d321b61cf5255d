// Renews locks and has that confirmed by replicas, many with one WAIT: the shell around GroupCommit.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/decide/group_commit.hpp"
#include "redis/connection/request.hpp"
#include "redis/topology/shard.hpp"
#include "timing/timer.hpp"

namespace holdfast::engine {

class Runtime;

/// Of one client. On the loop. For each shard and each level that was asked for there is one GroupCommit; they share
/// the shard's lane for acks, where one level's WAIT holds up the others' for as long as it lasts.
class Confirmations {
 public:
  explicit Confirmations(Runtime& runtime);
  ~Confirmations();
  Confirmations(const Confirmations&) = delete;
  Confirmations& operator=(const Confirmations&) = delete;

  /// One that begins now, and of which something is heard within `time`, but for a moment.
  Confirm confirm_of(Duration time) const;
  /// `done` is called once, perhaps at once.
  void ask(redis::Shard& shard, Acks acks, Confirm confirm);

  /// Acks belong to one primary: those of an era before this one may be of another, and count no more. Never 0. From
  /// any thread.
  std::uint32_t era() const { return era_.load(std::memory_order_relaxed); }
  /// A primary may have been replaced.
  void end_era();

  /// The shard's lane for acks is new: who is there at the other end, and with how many replicas, is not known.
  void on_connected(const redis::Shard& shard);
  void stop();
  /// Forgets all, without a word.
  void drop_all() noexcept;

 private:
  struct Level;
  struct Place;
  Place& place_of(redis::Shard& shard);
  Level& level_of(redis::Shard& shard, Acks acks);
  void go_on(Level& level) noexcept;
  void send(Level& level, const GroupCommit::Batch& batch);
  void on_result(Level& level, const GroupCommit::Batch& batch, const redis::Result& result,
                 std::uint32_t era) noexcept;
  void set_timer(Level& level, TimePoint due) noexcept;
  void on_timer(Level& level) noexcept;
  void tell(const Confirms& decided) noexcept;

  Runtime& runtime_;
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<std::unique_ptr<Level>> levels_;
  bool stopped_ = false;
  std::atomic<std::uint32_t> era_{1};
};

}  // namespace holdfast::engine
