// SPDX-License-Identifier: Apache-2.0
// Renews locks and has that confirmed by replicas, many with one WAIT: the shell around GroupCommit.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lock/decide/group_commit.hpp"
#include "lock/queue/target.hpp"
#include "loop/timer.hpp"
#include "redis/connection/request.hpp"
#include "redis/decide/slot.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::engine {

// What a server says to a renewal, however that was sent: alone or in a batch, with acks or without.

/// Why the server refuses a command.
ServerRefusal refusal_of(const base::Reply& reply);

/// The reply to a renewal of so many locks.
CommitReply::Renewal read_renewal(const base::Reply& reply, std::size_t locks);

/// The same of a command of a request that asks for no acks: `acked`, if the server has answered.
Confirmed read_renewal(const redis::Result& result, std::size_t command, std::size_t locks);

/// Of one tenancy.
Renewed as_renewed(const Confirmed& confirmed);

class Runtime;

/// Of one client. On the loop. For each shard and each level that was asked for there is one GroupCommit, and another
/// one for slots on their way there; they share the shard's lane for acks, where one level's WAIT holds up the others'
/// for as long as it lasts.
class Confirmations {
 public:
  explicit Confirmations(Runtime& runtime);
  ~Confirmations();
  Confirmations(const Confirmations&) = delete;
  Confirmations& operator=(const Confirmations&) = delete;

  /// One that begins now, and of which something is heard within the limit, but for a moment. The limit is that of any
  /// renewal unless it is given.
  Confirm confirm_of(std::vector<wire::Renewal> renewals, const Plan& plan, std::uint16_t slot, milliseconds lease,
                     std::optional<Duration> limit = {}) const;
  /// `done` is called once, perhaps at once.
  void ask(redis::Shard& shard, Acks acks, Confirm confirm);

  /// Acks belong to one primary: those of an era before this one may be of another, and count no more. In a cluster
  /// each slot has its own. Never 0. From any thread.
  std::uint32_t era(std::uint16_t slot) const {
    const std::uint32_t era = era_.load(std::memory_order_relaxed);
    return slots_ ? std::max(era + (*slots_)[slot].load(std::memory_order_relaxed), 1U) : era;
  }
  /// The primary of this shard may have been replaced.
  void end_era(const redis::Shard& shard);
  /// These slots are served by other shards: whoever waits for acks of theirs asks there.
  void on_moved(const redis::cluster::SlotSet& slots);

  /// The shard's lane for acks is new: who is there at the other end, and with how many replicas, is not known.
  void on_connected(const redis::Shard& shard);
  void stop();
  /// Forgets all, without a word.
  void drop_all() noexcept;

 private:
  struct Level;
  struct AckServer;
  AckServer& server_of(redis::Shard& shard);
  Level& level_of(redis::Shard& shard, Acks acks, bool asking = false);
  void add(Level& level, Confirm confirm);
  void ask_elsewhere(Level& level, Confirm confirm);
  void go_on(Level& level) noexcept;
  void send(Level& level, const GroupCommit::Batch& batch);
  void on_result(Level& level, const GroupCommit::Batch& batch, const redis::Result& result,
                 const std::vector<std::uint32_t>& eras) noexcept;
  void on_alarm(Level& level) noexcept;
  void tell(const Confirms& decided) noexcept;
  void tell_or_go_elsewhere(Level& level, Confirms decided) noexcept;

  Runtime& runtime_;
  std::vector<std::unique_ptr<AckServer>> servers_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::atomic<std::uint32_t> era_{1};
  using EraOfSlots = std::array<std::atomic<std::uint32_t>, redis::cluster::kSlots>;
  const std::unique_ptr<EraOfSlots> slots_;  // in a cluster: how often each one has had another primary, perhaps
};

}  // namespace holdfast::engine
