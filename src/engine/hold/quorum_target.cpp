#include "engine/hold/quorum_target.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "engine/hold/quorum_rounds.hpp"
#include "engine/hold/targets.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

QuorumTarget::QuorumTarget(std::string name, std::vector<Member> members, std::size_t needed, Members::Servers servers)
    : Target(std::move(name)), group_(std::move(members), needed, servers) {}

bool QuorumTarget::stands_on(const redis::Shard& shard) const {
  return std::ranges::any_of(members(), [&](const Member& member) { return member.target->stands_on(shard); });
}

bool QuorumTarget::lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const {
  return std::ranges::any_of(members(), [&](const Member& member) { return member.target->lies_in(client, slots); });
}

bool QuorumTarget::subscribed(const wire::Owner& waiter) const {
  const auto ready = [&](const Member& member) { return member.target->subscribed(waiter); };
  return static_cast<std::size_t>(std::ranges::count_if(members(), ready)) >= group_.quorum().needed;
}

Target::Use QuorumTarget::begin_use(const wire::Owner& waiter, const Listener& listener) {
  const auto uses = std::make_shared<std::vector<Use>>();
  for (std::size_t i = 0; i < members().size(); ++i) {
    uses->push_back(members()[i].target->begin_use(waiter, [weak = weak_from_this(), i, waiter, listener] {
      const auto group = std::static_pointer_cast<QuorumTarget>(weak.lock());
      if (!group) return;
      const bool told_no_more = !group->members()[i].target->subscribed(waiter);
      if (group->group_.on_release(i) || told_no_more) listener();
    }));
  }
  return uses;
}

void QuorumTarget::attempt(Order order, AttemptDone done) {
  order.owner.text = runtime().make_owner().text;
  group_.on_round();
  ask_members_for(shared_group(), std::move(order), std::move(done));
}

void QuorumTarget::release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) {
  release_members(shared_group(), owner, deadline, give_up, std::move(done));
}

void QuorumTarget::ask_holder(HolderDone done) {
  struct First {
    explicit First(HolderDone its_done) : done(std::move(its_done)) {}
    base::Mutex mutex;
    HolderDone done HOLDFAST_GUARDED_BY(mutex);
  };
  const auto first = std::make_shared<First>(std::move(done));
  for (const Member& member : members()) {
    member.target->ask_holder([first](std::optional<LockInfo> info) {
      if (!info) return;
      HolderDone tell;
      {
        const base::Guard guard(first->mutex);
        tell = std::exchange(first->done, {});
      }
      if (tell) tell(std::move(info));
    });
  }
}

void QuorumTarget::renew(const std::shared_ptr<Tenancy>& hold, milliseconds lease, RenewDone done) {
  renew_members(shared_group(), hold, lease, std::move(done));
}

void QuorumTarget::watch(const std::shared_ptr<Tenancy>& hold) {
  const auto spare =
      std::make_shared<std::atomic<int>>(static_cast<int>(group_.quorum().members - group_.quorum().needed));
  for (const Member& member : members()) member.target->watch(hold, spare);
}

std::shared_ptr<QuorumTarget> make_group(std::string name, std::vector<Member> members, std::size_t needed,
                                         Members::Servers servers) {
  auto made = std::make_shared<QuorumTarget>(std::move(name), std::move(members), needed, servers);
  std::set<const Targets*> told;
  for (const Member& member : made->members()) {
    Targets& its = member.target->targets();
    const bool serves = &member.target->runtime() == &made->runtime();
    if (told.insert(&its).second) its.adopt(made, serves ? Targets::Bond::serves : Targets::Bond::wakes);
  }
  return made;
}

}  // namespace holdfast::engine
