// One lock that lives on several servers, each with a client of its own, or in several slots of a cluster: all of them,
// or a majority. Or any one of them: see AnyTarget.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/hold/quorum_rounds.hpp"
#include "engine/hold/target.hpp"

namespace holdfast::engine {

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
  /// Of releases that may make up for what the latest round lacked, and where a member tells nothing any more.
  Use begin_use(const wire::Owner& waiter, const Listener& listener) override;
  // All of these on the loop of the client that serves it, where their outcomes come as well.
  /// Every round has an owner of its own, whatever the order says: releases of an earlier round that are still being
  /// repeated must not hit a later one. A round that fails has already been released everywhere, and withdrawn.
  void attempt(Order order, AttemptDone done) override;
  void release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) override;
  /// The first answer of a member that names somebody.
  void ask_holder(HolderDone done) override;
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
