// One lock that lives on several servers, each with a client of its own: all of them, or a majority.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/ballot.hpp"
#include "engine/site.hpp"

namespace holdfast::engine {

/// Asks all members at the same time if a majority will do. If all are needed it asks one after another in the order
/// given, so that of two groups with common members one stops at the first and the other gets all.
/// The first member's client serves it with threads and counters.
class Group final : public Target {
 public:
  struct Member {
    std::shared_ptr<Core> core;
    std::shared_ptr<Site> site;
  };
  /// To be called once the group is owned by a shared_ptr: the members' clients will wake and close it.
  static std::shared_ptr<Group> make(std::string name, std::vector<Member> members, std::size_t needed);
  Group(std::string name, std::vector<Member> members, std::size_t needed);

  const std::vector<Member>& members() const { return members_; }
  const std::vector<std::string>& nodes() const { return nodes_; }
  Quorum quorum() const { return quorum_; }
  bool one_by_one() const { return quorum_.needed == quorum_.members; }

  const Plan& plan() const override { return members_.front().site->plan(); }
  std::string where(const Core& core) const override;
  bool subscribed() const override;
  Use begin_use() override;
  /// Every round has an owner of its own, whatever the order says: releases of an earlier round that are still being
  /// repeated must not hit a later one. A round that fails has already been released everywhere.
  void attempt(Core& core, Order order, AttemptDone done) override;
  void release(Core& core, const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) override;
  /// Locks of a group are renewed group by group.
  std::size_t batched_locks() const override { return 0; }
  void add_renewals(std::vector<wire::Renewal>&, const wire::Owner&) const override {}
  /// Extended if enough members have extended it. Then those that have lost it, after a restart for example, are asked
  /// to take it again; that vote counts from the next renewal on.
  void renew(Core& core, const std::shared_ptr<HeldLock>& hold, RenewDone done) override;

 private:
  Duration handoff() const override;

  const std::vector<Member> members_;
  const std::vector<std::string> nodes_;
  const Quorum quorum_;
};

}  // namespace holdfast::engine
