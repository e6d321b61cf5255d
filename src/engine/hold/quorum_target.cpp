#include "engine/hold/quorum_target.hpp"

#include <algorithm>
#include <map>

#include <holdfast/error.hpp>

#include "base/text.hpp"
#include "engine/hold/quorum_rounds.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

bool of_one_client(const std::vector<QuorumTarget::Member>& members) {
  return std::ranges::all_of(members, [&](const auto& each) { return each.runtime == members.front().runtime; });
}

/// The members in words, for causes: by their servers, or by their locks if they are of one cluster.
std::vector<std::string> nodes_of(const std::vector<QuorumTarget::Member>& members) {
  const bool by_lock = members.size() > 1 && of_one_client(members);
  std::vector<std::string> nodes;
  nodes.reserve(members.size());
  for (const QuorumTarget::Member& member : members) {
    nodes.push_back(by_lock ? base::quote(member.target->name()) : member.runtime->node());
  }
  return nodes;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Those who have a lock in common, if they are of one server: two clients of it.
Pairs with_a_lock_in_common(const std::vector<QuorumTarget::Member>& members) {
  Pairs pairs;
  if (of_one_client(members)) return pairs;
  std::map<std::pair<unsigned, std::string>, std::vector<std::size_t>> by_lock;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (wire::LockNames& each : members[i].target->all_names()) {
      std::vector<std::size_t>& its = by_lock[{members[i].runtime->config().database, std::move(each.key)}];
      for (const std::size_t other : its) pairs.emplace_back(other, i);
      its.push_back(i);
    }
  }
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  return pairs;
}

Pairs pairs_of(const std::vector<QuorumTarget::Member>& members, QuorumTarget::Servers servers) {
  if (servers == QuorumTarget::Servers::any) return with_a_lock_in_common(members);
  Pairs pairs;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) pairs.emplace_back(j, i);
  }
  return pairs;
}

}  // namespace

QuorumTarget::QuorumTarget(std::string name, std::vector<Member> members, std::size_t needed, Servers servers)
    : Target(std::move(name)),
      members_(std::move(members)),
      nodes_(nodes_of(members_)),
      quorum_{members_.size(), needed},
      servers_(servers),
      different_(pairs_of(members_, servers)),
      must_differ_(members_.size()),
      in_the_way_(quorum_) {
  for (const auto& [one, other] : different_) must_differ_[one] = must_differ_[other] = true;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (must_differ(i)) members_[i].runtime->identity().ask();
  }
}

std::optional<std::string> QuorumTarget::same_server(const std::vector<std::uint64_t>& seen) const {
  const auto server = [&](std::size_t i) {
    return i < seen.size() && seen[i] != 0 ? seen[i] : members_[i].runtime->router().server();
  };
  for (const auto& [one, other] : different_) {
    if (server(one) <= redis::kNameless || server(one) != server(other)) continue;
    const std::string same = nodes_[one] + " and " + nodes_[other] + " are the same server";
    return servers_ == Servers::different ? same : same + ", and a lock is named at both";
  }
  return std::nullopt;
}

Runtime& QuorumTarget::runtime() const { return *members_.front().runtime; }

Watchdog& QuorumTarget::watchdog() const { return members_.front().target->watchdog(); }

bool QuorumTarget::stands_on(const redis::Shard& shard) const {
  return std::ranges::any_of(members_, [&](const Member& member) { return member.target->stands_on(shard); });
}

bool QuorumTarget::lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const {
  return std::ranges::any_of(members_, [&](const Member& member) { return member.target->lies_in(client, slots); });
}

/// Another one with each era of a member.
std::uint32_t QuorumTarget::acks_era() const {
  std::uint32_t sum = 0;
  for (const Member& member : members_) sum += member.target->acks_era();
  return std::max(sum, 1U);
}

std::string QuorumTarget::where() const {
  if (of_one_client(members_)) return runtime().node();
  std::string text = std::to_string(nodes_.size()) + " servers (";
  for (std::size_t i = 0; i < nodes_.size(); ++i) text += (i == 0 ? "" : ", ") + nodes_[i];
  return text + ")";
}

bool QuorumTarget::subscribed(const wire::Owner& waiter) const {
  const auto ready = [&](const Member& member) { return member.target->subscribed(waiter); };
  return static_cast<std::size_t>(std::ranges::count_if(members_, ready)) >= quorum_.needed;
}

Target::Use QuorumTarget::begin_use(const wire::Owner& waiter, const Listener& listener) {
  const auto uses = std::make_shared<std::vector<Use>>();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    uses->push_back(members_[i].target->begin_use(waiter, [weak = weak_from_this(), i, waiter, listener] {
      const auto group = std::static_pointer_cast<QuorumTarget>(weak.lock());
      if (group && group->heard_from(i, waiter)) listener();
    }));
  }
  return uses;
}

bool QuorumTarget::heard_from(std::size_t member, const wire::Owner& waiter) {
  const bool told_no_more = !members_[member].target->subscribed(waiter);
  bool may_win = false;
  {
    const base::Guard guard(in_the_way_mutex_);
    may_win = in_the_way_.on_release(member);
  }
  return may_win || told_no_more;
}

void QuorumTarget::attempt(Order order, AttemptDone done) {
  order.owner.text = runtime().make_owner().text;
  {
    const base::Guard guard(in_the_way_mutex_);
    in_the_way_.on_round();
  }
  ask_members_for(std::static_pointer_cast<QuorumTarget>(shared_from_this()), std::move(order), std::move(done));
}

/// On the member's loop, which hears of a release behind its vote, and which server it is before that.
void QuorumTarget::ask(std::size_t member, Order order, AttemptDone done) {
  if (must_differ(member)) members_[member].runtime->identity().ask();
  members_[member].target->attempt(std::move(order), [self = std::static_pointer_cast<QuorumTarget>(shared_from_this()),
                                                      member, done = std::move(done)](Attempt vote) {
    vote.server = self->members_[member].runtime->router().server();
    if (vote.kind == Attempt::Kind::granted && vote.server == 0 && self->must_differ(member)) {
      vote.kind = Attempt::Kind::unknown;
      vote.error = Errc::unknown_outcome;
      vote.cause = "which server it is, is not known yet";
    }
    {
      const base::Guard guard(self->in_the_way_mutex_);
      self->in_the_way_.on_vote(member, vote);
    }
    done(std::move(vote));
  });
}

void QuorumTarget::release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) {
  release_members(std::static_pointer_cast<QuorumTarget>(shared_from_this()), owner, deadline, give_up,
                  std::move(done));
}

void QuorumTarget::ask_holder(HolderDone done) {
  struct First {
    explicit First(HolderDone its_done) : done(std::move(its_done)) {}
    base::Mutex mutex;
    HolderDone done HOLDFAST_GUARDED_BY(mutex);
  };
  const auto first = std::make_shared<First>(std::move(done));
  for (const Member& member : members_) {
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
  renew_members(std::static_pointer_cast<QuorumTarget>(shared_from_this()), hold, lease, std::move(done));
}

void QuorumTarget::watch(const std::shared_ptr<Tenancy>& hold) {
  const auto spare = std::make_shared<std::atomic<int>>(static_cast<int>(quorum_.members - quorum_.needed));
  for (const Member& member : members_) member.target->watch(hold, spare);
}

}  // namespace holdfast::engine
