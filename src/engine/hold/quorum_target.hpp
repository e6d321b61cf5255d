// One lock that lives on several servers, each with a client of its own, or in several slots of a cluster: all of them,
// or a majority. Or any one of them: see AnyTarget.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/small_mutex.hpp"
#include "engine/decide/ballot.hpp"
#include "engine/decide/in_the_way.hpp"
#include "engine/hold/key_target.hpp"

namespace holdfast::engine {

/// Asks all members at the same time if a majority will do. If all are needed it asks one after another in the order
/// given, so that of two groups with common members one stops at the first and the other gets all. Members of one
/// client are in different slots of its cluster, and all of them are needed.
/// It belongs to the first member's client, which serves it with threads, counters and time limits, and ends with that
/// one. What becomes of another member's client is that member's vote: closed, it says no at once; silent, it is waited
/// for as long as its server would be.
class QuorumTarget : public Target {
 public:
  struct Member {
    std::shared_ptr<Runtime> runtime;
    std::shared_ptr<KeyTarget> target;
  };
  /// Whether each member's vote must be that of another server; `any`: only of members with a lock in common, which
  /// would be the same lock twice.
  enum class Servers { any, different };
  /// Has the servers asked who they are, where that matters.
  QuorumTarget(std::string name, std::vector<Member> members, std::size_t needed, Servers servers);

  const std::vector<Member>& members() const { return members_; }
  /// The members in words.
  const std::vector<std::string>& nodes() const { return nodes_; }
  Quorum quorum() const { return quorum_; }
  Servers servers() const { return servers_; }
  /// Two members that must be of different servers and are of one, which would have two votes, or one lock twice. In
  /// words. `seen`: who has answered for each member, where that is known; else it is who is there now.
  std::optional<std::string> same_server(const std::vector<std::uint64_t>& seen = {}) const;
  /// Which server a member is, matters.
  bool must_differ(std::size_t member) const { return must_differ_[member]; }
  bool one_by_one() const { return quorum_.needed == quorum_.members; }

  std::size_t locks() const override { return members_.size(); }
  /// What a member has heard was judged by heard_from(): it is no release of our own.
  void heard() override { wake(); }
  const Plan& plan() const override { return members_.front().target->plan(); }
  Runtime& runtime() const override;
  Watchdog& watchdog() const override;
  bool stands_on(const redis::Shard& shard) const override;
  bool lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const override;
  std::uint32_t acks_era() const override;
  std::string where() const override;
  /// Where each waiter has a channel of its own nobody is woken: the owners who ask are those of the rounds.
  bool subscribed(const wire::Owner& waiter) const override;
  /// Of releases that may make up for what the latest round lacked, and where a member tells nothing any more.
  Use begin_use(const wire::Owner& waiter, const Listener& listener) override;
  // All of these on the loop of the client that serves it, where their outcomes come as well.
  /// Every round has an owner of its own, whatever the order says: releases of an earlier round that are still being
  /// repeated must not hit a later one. A round that fails has already been released everywhere,
  /// and withdrawn.
  void attempt(Order order, AttemptDone done) override;
  /// A member's part in a round.
  void ask(std::size_t member, Order order, AttemptDone done);
  void release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) override;
  /// The first answer of a member that names somebody.
  void ask_holder(HolderDone done) override;
  /// Extended if enough members have extended it. Then those that have lost it, after a restart for example, are asked
  /// to take it again; that vote counts from the next renewal on.
  void renew(const std::shared_ptr<Tenancy>& hold, milliseconds lease, RenewDone done) override;
  void watch(const std::shared_ptr<Tenancy>& hold) override;

 private:
  /// True: whoever waits may win now.
  bool heard_from(std::size_t member, const wire::Owner& waiter);

  const std::vector<Member> members_;
  const std::vector<std::string> nodes_;
  const Quorum quorum_;
  const Servers servers_;
  const std::vector<std::pair<std::size_t, std::size_t>> different_;  // members that must be of different servers
  std::vector<bool> must_differ_;                                     // by member; constant after construction
  base::SmallMutex in_the_way_mutex_;
  InTheWay in_the_way_ HOLDFAST_GUARDED_BY(in_the_way_mutex_);
};

}  // namespace holdfast::engine
