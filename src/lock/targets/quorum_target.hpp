// SPDX-License-Identifier: Apache-2.0
// One lock that lives on several servers, each with a client of its own, or in several slots of a cluster: all of them,
// or a majority. It asks its members round by round: each round is begun on the loop of the client that serves the
// group, and tells its outcome there, once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "lock/decide/ballot.hpp"
#include "lock/queue/target.hpp"
#include "lock/targets/key_target.hpp"

namespace holdfast::engine {

/// A lock, or several that one command takes, and the client that they are of.
struct Member {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<KeyTarget> target;
};

/// Each of them in words, for causes: by their servers, or by their locks if they are of one cluster.
std::vector<std::string> nodes_of(const std::vector<Member>& members);

/// How long to wait for one member's vote: far below the lease, so that servers that are down cost little of it.
Duration vote_timeout(const Config& config, milliseconds lease);

/// The first answer of a member that names somebody.
void ask_holder(const std::vector<Member>& members, HolderDone done);

/// All of which, or a majority, must grant. Thread-safe.
class Members {
 public:
  /// Whether each member's vote must be that of another server; `any`: only of members with a lock in common, which
  /// would be the same lock twice.
  enum class Servers { any, different };
  /// Has the servers asked who they are, where that matters.
  Members(std::vector<Member> members, std::size_t needed, Servers servers);

  const std::vector<Member>& all() const { return all_; }
  /// Each of them in words.
  const std::vector<std::string>& nodes() const { return nodes_; }
  /// All of them in words.
  std::string where() const;
  /// Of the first one's client.
  Runtime& runtime() const { return *all_.front().runtime; }
  Quorum quorum() const { return quorum_; }
  bool one_by_one() const { return quorum_.needed == quorum_.members; }
  Servers servers() const { return servers_; }
  /// Which server a member is, matters.
  bool must_differ(std::size_t member) const { return must_differ_[member]; }
  /// Two members that must be of different servers and are of one, which would have two votes, or one lock twice. In
  /// words. `seen`: who has answered for each member, where that is known; else it is who is there now.
  std::optional<std::string> same_server(const std::vector<std::uint64_t>& seen = {}) const;
  /// Another one with each era of a member.
  std::uint32_t acks_era() const;

  /// A round of an acquire begins: this one.
  std::uint64_t on_round();
  /// A member's vote in it, on that one's loop, which hears of a release behind its vote, and which server it is before
  /// that. The vote learns which that was; where this matters and is not known, it is no grant. True: as on_release, if
  /// a release was heard before the vote.
  bool on_vote(std::uint64_t round, std::size_t member, Attempt& vote);
  /// A member has heard of a release. True: enough of them may now be free to win.
  bool on_release(std::size_t member);

 private:
  const std::vector<Member> all_;
  const std::vector<std::string> nodes_;
  const Quorum quorum_;
  const Servers servers_;
  const std::vector<std::pair<std::size_t, std::size_t>> different_;  // members that must be of different servers
  std::vector<bool> must_differ_;                                     // by member; constant after construction
  base::SmallMutex in_the_way_mutex_;
  InTheWay in_the_way_ HOLDFAST_GUARDED_BY(in_the_way_mutex_);  // of the latest round
  std::uint64_t round_ HOLDFAST_GUARDED_BY(in_the_way_mutex_) = 0;
};

/// Asks all members at the same time if a majority will do. If all are needed it asks one after another in the order
/// given, so that of two groups with common members one stops at the first and the other gets all. Members of one
/// client are in different slots of its cluster, and all of them are needed.
/// It belongs to the first member's client, which serves it with threads, counters and time limits, and ends with that
/// one. What becomes of another member's client is that member's vote: closed, it says no at once; silent, it is waited
/// for as long as its server would be.
class QuorumTarget : public Target {
 public:
  QuorumTarget(std::string name, std::vector<Member> members, std::size_t needed, Members::Servers servers);

  const Members& group() const { return group_; }
  const std::vector<Member>& members() const { return group_.all(); }

  std::size_t locks() const override { return members().size(); }
  /// What a member has heard was judged as it came (begin_use): it is no release of our own.
  void heard() override { wake(); }
  const Plan& plan() const override { return members().front().target->plan(); }
  Runtime& runtime() const override { return group_.runtime(); }
  void arm(const std::shared_ptr<Tenancy>& hold) override { members().front().target->arm(hold); }
  bool disarm(Tenancy& hold) override { return members().front().target->disarm(hold); }
  void look_now(const std::shared_ptr<Tenancy>& hold) override { members().front().target->look_now(hold); }
  bool stands_on(const redis::Shard& shard) const override;
  bool lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const override;
  std::uint32_t acks_era() const override { return group_.acks_era(); }
  std::string where() const override { return group_.where(); }
  /// Where each waiter has a channel of its own nobody is woken: the owners who ask are those of the rounds.
  bool subscribed(const wire::Owner& waiter) const override;
  void add_keys(std::vector<std::shared_ptr<KeyTarget>>& to) override;
  /// Of releases that may make up for what the latest round lacked, and where a member tells nothing any more.
  Use begin_use(const wire::Owner& waiter, const Listener& listener) override;
  // All of these on the loop of the client that serves it, where their outcomes come as well.
  /// Every round has an owner of its own, whatever the order says: releases of an earlier round that are still being
  /// repeated must not hit a later one. A round that fails has already been released everywhere, and withdrawn.
  void attempt(Order order, AttemptDone done) override;
  void release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) override;
  void ask_holder(HolderDone done) override { engine::ask_holder(members(), std::move(done)); }
  /// Extended if enough members have extended it. Then those that have lost it, after a restart for example, are asked
  /// to take it again; that vote counts from the next renewal on.
  void renew(const std::shared_ptr<Tenancy>& hold, milliseconds lease, RenewDone done) override;
  void watch(const std::shared_ptr<Tenancy>& hold) override;

 private:
  /// With all of this.
  std::shared_ptr<Members> shared_group() { return {shared_from_this(), &group_}; }

  Members group_;
};

/// Of these members, so many of which must grant. Their clients are told of it.
std::shared_ptr<QuorumTarget> make_group(std::string name, std::vector<Member> members, std::size_t needed,
                                         Members::Servers servers);

}  // namespace holdfast::engine
