// SPDX-License-Identifier: Apache-2.0
// Any one of several locks that lie in several slots of a cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lock/decide/ballot.hpp"
#include "lock/targets/quorum_target.hpp"

namespace holdfast::engine {

/// One member is enough, each of them with all the names of one slot. What is granted is a plain lock. A round asks one
/// member after another until one grants. Whoever may have granted without a word gives that back, and the next is
/// asked: a node that does not answer is nobody's obstacle.
class AnyTarget final : public Target {
 public:
  /// Of these names, each once, of one client, as its members have them.
  AnyTarget(std::vector<std::string> names, std::vector<Member> members);

  const std::vector<std::string>& names() const { return names_; }

  std::size_t locks() const override { return members_.size(); }
  const Plan& plan() const override { return members_.front().target->plan(); }
  Runtime& runtime() const override { return *members_.front().runtime; }
  void arm(const std::shared_ptr<Tenancy>& hold) override { members_.front().target->arm(hold); }
  bool disarm(Tenancy& hold) override { return members_.front().target->disarm(hold); }
  void look_now(const std::shared_ptr<Tenancy>& hold) override { members_.front().target->look_now(hold); }
  std::string where() const override { return members_.front().target->where(); }
  bool stands_on(const redis::Shard& shard) const override;
  bool lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const override;
  bool subscribed(const wire::Owner& waiter) const override;
  void add_keys(std::vector<std::shared_ptr<KeyTarget>>&) override {}  // what is held is one of the locks
  Use begin_use(const wire::Owner& waiter, const Listener& listener) override;
  void wake() override;
  void on_part_free(const KeyTarget& part) override;
  void attempt(Order order, AttemptDone done) override;
  std::shared_ptr<Target> granted(const wire::Grant& grant) override;
  /// Who has given it does not matter: nobody else knows this owner.
  void undo(const wire::Owner& owner, milliseconds lease) noexcept override;
  void ask_holder(HolderDone done) override { engine::ask_holder(members_, std::move(done)); }

  // Nothing is ever held by it.
  std::uint32_t acks_era() const override { return 0; }
  void release(const wire::Owner&, TimePoint, TimePoint, ReleaseDone done) override { done({}); }
  void renew(const std::shared_ptr<Tenancy>&, milliseconds, RenewDone done) override { done({}); }
  void watch(const std::shared_ptr<Tenancy>&) override {}

 private:
  class Round;
  template <class Event>
  auto let(Event&& event) {
    const base::Guard guard(candidates_mutex_);
    return event(candidates_);
  }

  const std::vector<std::string> names_;
  const std::vector<Member> members_;
  base::SmallMutex candidates_mutex_;
  Candidates candidates_ HOLDFAST_GUARDED_BY(candidates_mutex_);
};

/// Of any one of these locks (each once) of a client. All who ask for the same names in the same order wait in one
/// queue. Where they share a slot, one command asks for all of them.
std::shared_ptr<Target> any_of(const std::shared_ptr<Runtime>& client, Targets& its,
                               const std::vector<std::string>& names, const Plan& plan);
/// This one, or the one of the same names that the client has already.
std::shared_ptr<Target> only_one_of(Targets& its, const std::shared_ptr<AnyTarget>& made);

}  // namespace holdfast::engine
