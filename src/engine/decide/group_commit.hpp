// Who waits for the acks of one level, and which of them share the next WAIT. Pure; time is an input.
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

#include "engine/decide/attempt.hpp"
#include "engine/decide/plan.hpp"
#include "engine/decide/replica_count.hpp"

namespace holdfast::engine {

/// What was found when locks were renewed and their acks asked for.
struct Confirmed {
  std::vector<bool> extended{};  // lock by lock; empty: nothing is known
  bool acked = false;            // and as many as are needed have confirmed all of it
  bool for_good = false;         // not acked, and asking again will not help
  bool for_one = false;          // refused, perhaps since a single one of the locks is in the way
  bool elsewhere = false;        // refused: another server is to be asked, as the cause says
  std::error_code error{};       // not acked: why
  std::string cause{};
  TimePoint sent_at{};    // of the renewal
  std::uint32_t era = 0;  // when that was sent: see Confirmations::era

  /// One of them is not this owner's any more.
  bool gone() const { return std::ranges::find(extended, false) != extended.end(); }
};

/// What a grant is worth when its acks were asked for, in the era that is now.
Attempt as_confirmed(Attempt attempt, const Confirmed& confirmed, std::uint32_t era);

/// Locks of one owner each, to be renewed and confirmed.
struct Confirm {
  std::vector<wire::Renewal> renewals{};
  const Plan* plan = nullptr;
  milliseconds lease{};
  std::uint16_t slot = 0;  // of all of them
  TimePoint asked_at{};
  TimePoint acks_until{};  // the replicas have so long
  TimePoint until{};       // whoever asks hears something by then; not before acks_until
  std::function<void(const Confirmed&)> done{};
  TimePoint not_before{};  // it goes with no batch until then

  bool alone = false;  // what it was sent with was refused: it must not cost others their renewal
  bool taken = false;  // out of the batch under way: see take_moved()
  bool decided = false;
  Confirmed found{};
};
using Confirms = std::list<Confirm>;

/// What a server refuses.
struct ServerRefusal {
  std::error_code error{};  // empty: it does not
  bool for_good = false;
  std::string cause{};
  bool for_one = false;    // as of Confirmed
  bool elsewhere = false;  // as of Confirmed
};

/// What came of a batch.
struct CommitReply {
  enum class Kind { answered, not_sent, unknown };
  Kind kind = Kind::not_sent;
  std::string cause{};  // unless answered

  // Answered:
  bool resent = false;  // a renewal ran behind the WAIT
  struct Renewal {
    std::vector<bool> extended{};  // lock by lock; empty: refused
    ServerRefusal refused{};
    std::uint32_t era = 0;  // of its slot, when it was sent
  };
  std::vector<Renewal> commands{};
  std::optional<int> replicas{};  // that are connected, if that was asked for and said
  std::optional<long long> acks{};
  ServerRefusal refused{};  // the WAIT, or the question how many there are

  TimePoint sent_at{};
};

/// One batch at a time: what comes meanwhile is collected and goes with the next (group commit). A batch is renewals,
/// which write, and one WAIT behind them, in one write on one connection: it covers all that the server wrote before
/// it, the grants included. The WAIT lasts as long as the most impatient of the batch has time; if acks are missing by
/// then, the others go with the next batch. Not thread-safe.
class GroupCommit {
 public:
  /// So many locks for each command at most; no WAIT lasts longer than `longest_wait`.
  GroupCommit(Acks acks, std::size_t most_locks, Duration longest_wait)
      : acks_(acks), most_locks_(most_locks), longest_wait_(longest_wait) {}

  /// A batch has so many commands at most, each for one slot: a server takes a millisecond or so for them, which all of
  /// the batch wait for.
  static constexpr std::size_t kMostCommands = 256;

  void add(Confirm confirm) { waiting_.push_back(std::move(confirm)); }

  struct Batch {
    struct Command {
      const Plan* plan = nullptr;
      milliseconds lease{};
      std::uint16_t slot = 0;
      std::size_t locks = 0;
      std::vector<const Confirm*> parts{};
    };
    std::vector<Command> commands{};
    bool ask_replicas = false;  // INFO goes before the WAIT
    int acks = 0;               // how many the WAIT is for; 0: it only says how many there are
    milliseconds wait{};
    Duration timeout{};
  };
  /// Empty: one is under way, or nobody waits.
  std::optional<Batch> next(TimePoint now, const ReplicaCount& replicas);
  /// What became of the batch that is under way. Returns those for whom something is found.
  Confirms on_reply(TimePoint now, const CommitReply& reply, ReplicaCount& replicas);
  /// Returns those who wait for a batch to end, and whose time is over before it does.
  Confirms on_time(TimePoint now);
  /// When on_time() must be called, and then next(); max(): never.
  TimePoint due() const;
  /// Those whose slots are served by another server now, and who are to ask there: of what is under way as well, of
  /// which nothing is heard any more.
  Confirms take_moved(const std::function<bool(std::uint16_t slot)>& moved);
  /// There is no memory to go on with the batch under way, or (with `all`) nobody will: all of it.
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
  std::vector<std::size_t> sizes_;  // of its commands: how many of under_way_, in order
};

}  // namespace holdfast::engine
