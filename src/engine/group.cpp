#include "engine/group.hpp"

#include <algorithm>
#include <random>

#include <holdfast/error.hpp>

#include "engine/core.hpp"
#include "engine/held_lock.hpp"

namespace holdfast::engine {
namespace {

using base::Clock;

std::vector<std::string> nodes_of(const std::vector<Group::Member>& members) {
  std::vector<std::string> nodes;
  nodes.reserve(members.size());
  for (const Group::Member& member : members) nodes.push_back(member.core->node());
  return nodes;
}

/// How long to wait for one member's vote: far below the lease, so that servers that are down cost little of it.
Duration vote_timeout(const Config& config, milliseconds lease) {
  const Duration wanted = config.node_timeout.value_or(
      std::clamp(std::chrono::duration_cast<milliseconds>(lease) / 20, milliseconds(50), milliseconds(500)));
  return std::max<Duration>(std::min<Duration>(wanted, Duration(lease) / 5), milliseconds(1));
}

/// Two who ask at the same moment fail each other; chance parts them.
Duration split_pause() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::chrono::microseconds(std::uniform_int_distribution<int>(1'000, 30'000)(random));
}

/// One round of an acquire. Kept alive by the votes that are still to come.
class AcquireRound : public std::enable_shared_from_this<AcquireRound> {
 public:
  AcquireRound(std::shared_ptr<Group> group, Target::Order order, Target::AttemptDone done)
      : group_(std::move(group)), order_(std::move(order)), done_(std::move(done)), ballot_(group_->quorum()) {}

  void start() {
    if (group_->one_by_one()) {
      ask(0);
    } else {
      for (std::size_t i = 0; i < group_->members().size(); ++i) ask(i);
    }
  }

 private:
  void ask(std::size_t i) {
    const Group::Member& member = group_->members()[i];
    Target::Order order = order_;
    order.timeout = std::min(order.timeout, vote_timeout(member.core->config(), order.lease));
    member.site->attempt(*member.core, std::move(order),
                         [self = shared_from_this(), i](Attempt vote) { self->on_vote(i, std::move(vote)); });
  }

  void on_vote(std::size_t i, Attempt vote) {
    const bool granted = vote.kind == Attempt::Kind::granted;
    enum class Next { nothing, ask, win, fail } next = Next::nothing;
    {
      const std::scoped_lock guard(mutex_);
      ballot_.record(i, std::move(vote));
      if (decided_) return;
      decided_ = ballot_.won() || ballot_.failed();
      if (decided_) {
        next = ballot_.won() && Clock::now() < lease_end(started_, order_.lease) ? Next::win : Next::fail;
      } else if (granted && group_->one_by_one()) {
        next = Next::ask;
      }
    }
    if (next == Next::ask) ask(i + 1);
    if (next == Next::win) win();
    if (next == Next::fail) fail();
  }

  void win() {
    Attempt attempt;
    attempt.kind = Attempt::Kind::granted;
    attempt.owner = order_.owner;
    attempt.sent_at = started_;
    std::exchange(done_, {})(std::move(attempt));
  }

  /// Releases wherever a grant may stand or still come: not where the server has said that somebody else has it.
  void fail() {
    Attempt attempt;
    std::vector<std::size_t> perhaps;
    {
      const std::scoped_lock guard(mutex_);
      if (ballot_.won()) {
        attempt.kind = Attempt::Kind::passing;
        attempt.error = Errc::no_quorum;
        attempt.cause = "the votes took longer than the lease: " + ballot_.text(group_->nodes());
      } else {
        attempt = ballot_.result(group_->nodes(), split_pause());
      }
      for (std::size_t i = 0; i < group_->members().size(); ++i) {
        using Kind = Attempt::Kind;
        const auto& vote = ballot_.vote(i);
        const bool asked = vote || !group_->one_by_one();
        if (asked && (!vote || vote->kind == Kind::granted || vote->kind == Kind::unknown)) perhaps.push_back(i);
      }
    }
    for (const std::size_t i : perhaps) {
      const Group::Member& member = group_->members()[i];
      member.site->undo(*member.core, order_.owner, order_.lease);
    }
    std::exchange(done_, {})(std::move(attempt));
  }

  const std::shared_ptr<Group> group_;
  const Target::Order order_;
  Target::AttemptDone done_;  // taken by whoever decides
  const TimePoint started_ = Clock::now();

  std::mutex mutex_;
  Ballot ballot_;         // guarded by mutex_
  bool decided_ = false;  // guarded by mutex_
};

/// Counts the outcomes of a release on all members.
class ReleaseRound {
 public:
  ReleaseRound(Quorum quorum, Target::ReleaseDone done) : quorum_(quorum), done_(std::move(done)) {}

  void on_outcome(const Released& released) {
    const ReleaseOutcome outcome = released.outcome;
    std::optional<ReleaseOutcome> known;
    std::int64_t listeners = 0;
    {
      const std::scoped_lock guard(mutex_);
      listeners_ = listeners = std::max(listeners_, released.listeners);
      ++known_;
      if (outcome == ReleaseOutcome::released) ++released_;
      if (outcome == ReleaseOutcome::was_lost) ++lost_;
      if (decided_) return;
      if (released_ >= quorum_.needed) {
        known = ReleaseOutcome::released;
      } else if (lost_ > quorum_.members - quorum_.needed) {
        known = ReleaseOutcome::was_lost;
      } else if (known_ == quorum_.members) {
        known = ReleaseOutcome::unknown;
      }
      decided_ = known.has_value();
    }
    if (known) std::exchange(done_, {})({*known, listeners});
  }

 private:
  const Quorum quorum_;
  Target::ReleaseDone done_;  // taken by whoever decides

  std::mutex mutex_;
  std::size_t known_ = 0, released_ = 0, lost_ = 0;  // guarded by mutex_
  std::int64_t listeners_ = 0;                       // guarded by mutex_; where there were most
  bool decided_ = false;                             // guarded by mutex_
};

/// One renewal on all members, and the healing of those that have lost it.
class RenewRound : public std::enable_shared_from_this<RenewRound> {
 public:
  using Renewed = Target::Renewed;
  RenewRound(std::shared_ptr<Group> group, std::shared_ptr<HeldLock> hold, Target::RenewDone done)
      : group_(std::move(group)), hold_(std::move(hold)), done_(std::move(done)) {}

  void start() {
    const auto& members = group_->members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i].site->renew(*members[i].core, hold_,
                             [self = shared_from_this(), i](const Renewed& renewed) { self->on_vote(i, renewed); });
    }
  }

 private:
  void on_vote(std::size_t i, const Renewed& vote) {
    std::optional<Renewed> result;
    std::vector<std::size_t> to_heal;
    {
      const std::scoped_lock guard(mutex_);
      const auto [members, needed] = group_->quorum();
      if (vote.kind == Renewed::Kind::extended) ++extended_;
      if (vote.kind == Renewed::Kind::gone) gone_.push_back(i);
      if (vote.kind == Renewed::Kind::unanswered) {
        ++unanswered_;
        trouble_ += (trouble_.empty() ? "" : "; ") + group_->nodes()[i] + ": " + vote.cause;
      }
      if (!decided_) {
        if (extended_ >= needed) {
          result = Renewed{Renewed::Kind::extended, started_, {}};
        } else if (gone_.size() > members - needed) {
          result = Renewed{Renewed::Kind::gone, started_, {}};
        } else if (extended_ + gone_.size() + unanswered_ == members) {
          result = Renewed{Renewed::Kind::unanswered, started_, trouble_};
        }
        decided_ = result.has_value();
      }
      if (extended_ >= needed) to_heal.swap(gone_);
    }
    for (const std::size_t member : to_heal) heal(member);
    if (result) std::exchange(done_, {})(*result);
  }

  void heal(std::size_t i) {
    const Group::Member& member = group_->members()[i];
    const milliseconds lease = hold_->lease();
    member.site->attempt(*member.core, {hold_->owner(), lease, vote_timeout(member.core->config(), lease), false},
                         [core = member.core, site = member.site, hold = hold_](const Attempt& vote) {
                           // A hold that has ended meanwhile has sent its release before this came to be.
                           const bool perhaps =
                               vote.kind == Attempt::Kind::granted || vote.kind == Attempt::Kind::unknown;
                           if (perhaps && hold->ended()) site->undo(*core, hold->owner(), hold->lease());
                         });
  }

  const std::shared_ptr<Group> group_;
  const std::shared_ptr<HeldLock> hold_;
  Target::RenewDone done_;  // taken by whoever decides
  const TimePoint started_ = Clock::now();

  std::mutex mutex_;
  std::size_t extended_ = 0, unanswered_ = 0;  // guarded by mutex_
  std::vector<std::size_t> gone_;              // guarded by mutex_; not yet healed
  std::string trouble_;                        // guarded by mutex_
  bool decided_ = false;                       // guarded by mutex_
};

}  // namespace

std::shared_ptr<Group> Group::make(std::string name, std::vector<Member> members, std::size_t needed) {
  auto group = std::make_shared<Group>(std::move(name), std::move(members), needed);
  for (const Member& member : group->members_) member.core->adopt(group);
  return group;
}

Group::Group(std::string name, std::vector<Member> members, std::size_t needed)
    : Target(std::move(name)),
      members_(std::move(members)),
      nodes_(nodes_of(members_)),
      quorum_{members_.size(), needed} {}

Duration Group::handoff() const { return members_.front().core->config().handoff; }

std::string Group::where(const Core&) const {
  std::string text = std::to_string(nodes_.size()) + " servers (";
  for (std::size_t i = 0; i < nodes_.size(); ++i) text += (i == 0 ? "" : ", ") + nodes_[i];
  return text + ")";
}

bool Group::subscribed() const {
  const auto ready = [](const Member& member) { return member.site->subscribed(); };
  return static_cast<std::size_t>(std::ranges::count_if(members_, ready)) >= quorum_.needed;
}

Target::Use Group::begin_use() {
  const auto uses = std::make_shared<std::vector<Use>>();
  for (const Member& member : members_) {
    uses->push_back(member.site->begin_use([weak = weak_from_this()] {
      if (const std::shared_ptr<Target> group = weak.lock()) group->wake();
    }));
  }
  return uses;
}

void Group::attempt(Core& core, Order order, AttemptDone done) {
  order.owner = core.make_owner();
  std::make_shared<AcquireRound>(std::static_pointer_cast<Group>(shared_from_this()), std::move(order), std::move(done))
      ->start();
}

void Group::release(Core&, const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) {
  const auto round = std::make_shared<ReleaseRound>(quorum_, std::move(done));
  for (const Member& member : members_) {
    member.site->release(*member.core, owner, deadline, give_up,
                         [round](const Released& released) { round->on_outcome(released); });
  }
}

void Group::renew(Core&, const std::shared_ptr<HeldLock>& hold, RenewDone done) {
  std::make_shared<RenewRound>(std::static_pointer_cast<Group>(shared_from_this()), hold, std::move(done))->start();
}

}  // namespace holdfast::engine
