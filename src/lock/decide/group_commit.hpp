// SPDX-License-Identifier: Apache-2.0
// Requests that wait for acks of one level, and which of them share the next WAIT. Pure; time is an input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <holdfast/options.hpp>

#include "kinds/plan.hpp"
#include "lock/decide/attempt.hpp"
#include "lock/decide/lease.hpp"

namespace holdfast::engine {

/// How many replicas a primary has, as far as can be known, and how many of them a level of acks needs. A replica that
/// is away can still be elected, so the highest number ever seen connected counts, unless the configured number is
/// known: then that, or the number connected now if that is more. Not thread-safe.
class ReplicaCount {
 public:
  /// The primary reports how many are connected.
  void on_told(int connected, TimePoint now) {
    connected_ = connected;
    highest_ = std::max(highest_.value_or(0), connected);
    asked_at_ = now;
  }
  /// This many can be elected now, according to another source; others that may come back are not included.
  void on_seen(int replicas) { highest_ = std::max(highest_.value_or(0), replicas); }
  /// The primary may be another one, or its replicas may have changed.
  void ask_again() { asked_at_.reset(); }
  /// Sets the number on record elsewhere, which is more reliable.
  void set_configured(std::optional<int> replicas) { configured_ = replicas; }

  bool to_be_asked(TimePoint now) const { return !asked_at_ || now >= *asked_at_ + kFresh; }
  /// Empty: nothing reported yet.
  std::optional<int> count() const {
    if (configured_) return std::max(*configured_, connected_);
    return highest_;
  }

 private:
  static constexpr Duration kFresh = std::chrono::seconds(1);

  int connected_ = 0;
  std::optional<int> highest_;
  std::optional<int> configured_;
  std::optional<TimePoint> asked_at_;
};

/// Whether a level depends on how many replicas there are.
constexpr bool counts_replicas(Acks acks) {
  return acks.level() == Acks::Level::majority || acks.level() == Acks::Level::all;
}

/// How many of the replicas must confirm; 0 where the level counts replicas: there are none, so it cannot be met.
constexpr int acks_needed(Acks acks, int replicas) {
  switch (acks.level()) {
    case Acks::Level::replicas:
      return acks.number();
    case Acks::Level::majority:
      return (replicas + 1) / 2;
    case Acks::Level::all:
      return replicas;
    case Acks::Level::none:
    case Acks::Level::aof:
      break;
  }
  return 0;
}

/// The result of renewing locks and requesting acks.
struct Confirmed {
  std::vector<bool> extended{};  // lock by lock; empty: unknown
  bool acked = false;            // and enough replicas have confirmed all of it
  bool for_good = false;         // not acked, and a retry will not help
  bool for_one = false;          // refused, perhaps because of a single one of the locks
  bool elsewhere = false;        // refused: another server must be asked, as the cause says
  std::error_code error{};       // not acked: why
  std::string cause{};
  TimePoint sent_at{};    // of the renewal
  std::uint32_t era = 0;  // at the time of sending: see Confirmations::era

  /// One of them is no longer this owner's.
  bool gone() const { return std::ranges::find(extended, false) != extended.end(); }
};

/// What a grant becomes after requesting its acks, given the current era.
Attempt as_confirmed(Attempt attempt, const Confirmed& confirmed, std::uint32_t era);

/// Locks, each with one owner, to be renewed and confirmed.
struct Confirm {
  std::vector<wire::Renewal> renewals{};
  const Plan* plan = nullptr;
  milliseconds lease{};
  std::uint16_t slot = 0;  // of all of them
  TimePoint asked_at{};
  TimePoint acks_until{};  // the replicas' time limit
  TimePoint until{};       // the caller gets a result by then; not before acks_until
  std::function<void(const Confirmed&)> done{};
  TimePoint not_before{};  // joins no batch until then

  bool alone = false;  // its batch was refused: it must not prevent others' renewals
  bool taken = false;  // removed from the batch under way: see take_moved()
  bool decided = false;
  Confirmed found{};
};
using Confirms = std::list<Confirm>;

/// A server's refusal.
struct ServerRefusal {
  std::error_code error{};  // empty: none
  bool for_good = false;
  std::string cause{};
  bool for_one = false;    // as of Confirmed
  bool elsewhere = false;  // as of Confirmed
};

/// The result of a batch.
struct CommitReply {
  std::uint64_t batch = 0;  // its number
  enum class Kind { answered, not_sent, unknown };
  Kind kind = Kind::not_sent;
  std::string cause{};  // unless answered

  // Answered:
  bool resent = false;  // a renewal ran after the WAIT
  struct Renewal {
    std::vector<bool> extended{};  // lock by lock; empty: refused
    ServerRefusal refused{};
    std::uint32_t era = 0;  // of its slot, at the time of sending
  };
  std::vector<Renewal> commands{};  // all of the batch
  std::optional<int> replicas{};    // connected ones, if requested and reported
  std::optional<long long> acks{};
  ServerRefusal refused{};  // the WAIT, or the query for their number

  TimePoint sent_at{};
};

/// One batch at a time: requests that arrive meanwhile are collected for the next (group commit). A batch is renewals,
/// which write, followed by one WAIT, in one write on one connection: the WAIT covers everything that the server wrote
/// before it, including the grants. It lasts until the earliest time limit in the batch; if acks are missing by then,
/// the others join the next batch. Not thread-safe.
class GroupCommit {
 public:
  /// At most `most_locks` locks per command; no WAIT lasts longer than `longest_wait`.
  GroupCommit(Acks acks, std::size_t most_locks, Duration longest_wait)
      : acks_(acks), most_locks_(most_locks), longest_wait_(longest_wait) {}

  /// The most commands in a batch, each for one slot: a server takes about a millisecond for them, which the whole
  /// batch waits for.
  static constexpr std::size_t kMostCommands = 256;

  void add(Confirm confirm) { waiting_.push_back(std::move(confirm)); }

  struct Batch {
    std::uint64_t number = 0;
    struct Command {
      const Plan* plan = nullptr;
      milliseconds lease{};
      std::uint16_t slot = 0;
      std::size_t locks = 0;
      std::vector<const Confirm*> parts{};
    };
    std::vector<Command> commands{};
    bool ask_replicas = false;  // INFO goes before the WAIT
    int acks = 0;               // how many the WAIT is for; 0: it only counts them
    milliseconds wait{};
    Duration timeout{};
  };
  /// Empty: one is under way, or nothing waits.
  std::optional<Batch> next(TimePoint now, const ReplicaCount& replicas);
  /// Takes the result of the batch under way; that of another, which was taken back, means nothing. Returns the
  /// requests that now have a result.
  Confirms on_reply(TimePoint now, const CommitReply& reply, ReplicaCount& replicas);
  /// Returns waiting requests whose time is over before the current batch ends.
  Confirms on_time(TimePoint now);
  /// When on_time() must be called, and then next(); max(): never.
  TimePoint due() const;
  /// Removes and returns the requests whose slots are now served by another server, where they must be sent again,
  /// including those in the batch under way, whose reply is then ignored.
  Confirms take_moved(const std::function<bool(std::uint16_t slot)>& moved);
  /// Removes and returns the batch under way, which cannot continue for lack of memory, or everything.
  Confirms take_under_way() noexcept;
  Confirms take_all() noexcept;

 private:
  bool fits(const Batch::Command& command, const Confirm& confirm) const;
  void judge(Confirm& confirm, TimePoint now, const CommitReply& reply, const CommitReply::Renewal& renewal,
             bool shared, const ReplicaCount& replicas) const;
  void judge_acks(Confirm& confirm, TimePoint now, const CommitReply& reply, const ReplicaCount& replicas) const;
  void miss(Confirm& confirm, TimePoint now, std::string cause) const;

  const Acks acks_;
  const std::size_t most_locks_;
  const Duration longest_wait_;
  Confirms waiting_;
  Confirms under_way_;
  std::uint64_t number_ = 0;        // of the latest batch
  std::vector<std::size_t> sizes_;  // for each command, how many of under_way_, in order
};

}  // namespace holdfast::engine
