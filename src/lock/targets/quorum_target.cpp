// SPDX-License-Identifier: Apache-2.0
#include "lock/targets/quorum_target.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include <holdfast/error.hpp>

#include "base/entropy.hpp"
#include "base/text.hpp"
#include "lock/queue/tenancy.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/targets.hpp"

namespace holdfast::engine {
namespace {

bool of_one_client(const std::vector<Member>& members) {
  return std::ranges::all_of(members, [&](const auto& each) { return each.runtime == members.front().runtime; });
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Those who have a lock in common, if they are of one server: two clients of it.
Pairs with_a_lock_in_common(const std::vector<Member>& members) {
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

Pairs pairs_of(const std::vector<Member>& members, Members::Servers servers) {
  if (servers == Members::Servers::any) return with_a_lock_in_common(members);
  Pairs pairs;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) pairs.emplace_back(j, i);
  }
  return pairs;
}

}  // namespace

std::vector<std::string> nodes_of(const std::vector<Member>& members) {
  const bool by_lock = members.size() > 1 && of_one_client(members);
  std::vector<std::string> nodes;
  nodes.reserve(members.size());
  for (const Member& member : members) {
    nodes.push_back(by_lock ? base::quote(member.target->name()) : member.runtime->node());
  }
  return nodes;
}

Members::Members(std::vector<Member> members, std::size_t needed, Servers servers)
    : all_(std::move(members)),
      nodes_(nodes_of(all_)),
      quorum_{all_.size(), needed},
      servers_(servers),
      different_(pairs_of(all_, servers)),
      must_differ_(all_.size()),
      in_the_way_(quorum_) {
  for (const auto& [one, other] : different_) must_differ_[one] = must_differ_[other] = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (must_differ(i)) all_[i].runtime->identify();
  }
}

std::string Members::where() const {
  if (of_one_client(all_)) return runtime().node();
  std::string text = std::to_string(nodes_.size()) + " servers (";
  for (std::size_t i = 0; i < nodes_.size(); ++i) text += (i == 0 ? "" : ", ") + nodes_[i];
  return text + ")";
}

std::optional<std::string> Members::same_server(const std::vector<std::uint64_t>& seen) const {
  const auto server = [&](std::size_t i) {
    return i < seen.size() && seen[i] != 0 ? seen[i] : all_[i].runtime->router().server();
  };
  for (const auto& [one, other] : different_) {
    if (server(one) <= redis::kNameless || server(one) != server(other)) continue;
    const std::string same = nodes_[one] + " and " + nodes_[other] + " are the same server";
    return servers_ == Servers::different ? same : same + ", and a lock is named at both";
  }
  return std::nullopt;
}

std::uint32_t Members::acks_era() const {
  std::uint32_t sum = 0;
  for (const Member& member : all_) sum += member.target->acks_era();
  return std::max(sum, 1U);
}

std::uint64_t Members::on_round() {
  const base::Guard guard(in_the_way_mutex_);
  in_the_way_.on_round();
  return ++round_;
}

bool Members::on_vote(std::uint64_t round, std::size_t member, Attempt& vote) {
  vote.server = all_[member].runtime->router().server();
  if (vote.kind == Attempt::Kind::granted && vote.server == 0 && must_differ(member)) {
    vote.kind = Attempt::Kind::unknown;
    vote.error = Errc::unknown_outcome;
    vote.cause = "which server it is, is not known yet";
  }
  const base::Guard guard(in_the_way_mutex_);
  return round == round_ && in_the_way_.on_vote(member, vote);
}

bool Members::on_release(std::size_t member) {
  const base::Guard guard(in_the_way_mutex_);
  return in_the_way_.on_release(member);
}

Duration vote_timeout(const Config& config, milliseconds lease) {
  const Duration wanted = config.timing.node_timeout.value_or(
      std::clamp(std::chrono::duration_cast<milliseconds>(lease) / 20, milliseconds(50), milliseconds(500)));
  return std::max<Duration>(std::min<Duration>(wanted, Duration(lease) / 5), milliseconds(1));
}

void ask_holder(const std::vector<Member>& members, HolderDone done) {
  struct First {
    explicit First(HolderDone its_done) : done(std::move(its_done)) {}
    base::Mutex mutex;
    HolderDone done HOLDFAST_GUARDED_BY(mutex);
  };
  const auto first = std::make_shared<First>(std::move(done));
  for (const Member& member : members) {
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

namespace {

using base::Clock;

/// What a word takes at most from a member's loop, as long as that lives, to the loop of the client that serves the
/// group.
constexpr Duration kOnTheWay = milliseconds(50);

/// Two who ask at the same moment fail each other; chance parts them.
Duration split_pause() { return std::chrono::microseconds(1'000 + static_cast<int>(29'000 * base::random_share())); }

constexpr const char* kSilent = "no word from its client, whose loop stands still";

/// Brings the members' words, which come on their clients' loops, to the loop of the client that serves the group. Once
/// it is over nothing is heard any more.
template <class Word>
class MembersRound : public std::enable_shared_from_this<MembersRound<Word>> {
 public:
  explicit MembersRound(std::shared_ptr<Members> group)
      : group_(std::move(group)),
        runtime_(group_->runtime()),
        limit_(runtime_.loop().schedule(), [this] { try_to_end(); }, timing::Alarm::AtClose::rings) {}
  virtual ~MembersRound() = default;
  MembersRound(const MembersRound&) = delete;
  MembersRound& operator=(const MembersRound&) = delete;

 protected:
  virtual void on_word(std::size_t member, Word word) = 0;
  /// What has not been heard by now counts as silence.
  virtual void on_limit() = 0;

  auto hears(std::size_t member) {
    return [self = this->shared_from_this(), member](Word word) {
      if (self->over_.load()) return;
      self->runtime_.hand_over([self, member, word = std::move(word)]() mutable {
        if (!self->over_.load()) self->on_word(member, std::move(word));
      });
    };
  }
  /// From now on it keeps itself alive until it ends.
  void limit_to(Duration time) { limit_.set_after(time + kOnTheWay, this->shared_from_this()); }
  void end() {
    over_.store(true);
    limit_.cancel();
  }
  bool over() const { return over_.load(); }
  Members& group() const { return *group_; }
  const std::vector<Member>& members() const { return group_->all(); }
  Runtime& runtime() { return runtime_; }

 private:
  void try_to_end() noexcept {
    try {
      on_limit();
    } catch (...) {
      // Out of memory: whoever waits for it hears that it was destroyed without a word.
    }
  }

  const std::shared_ptr<Members> group_;  // and with it the clients
  Runtime& runtime_;
  std::atomic<bool> over_{false};
  timing::Alarm limit_;
};

/// One round of an acquire.
class AcquireRound final : public MembersRound<Attempt> {
 public:
  /// `wake`: the lock may have become free since a member voted. On that one's loop, as long as this lives.
  AcquireRound(std::shared_ptr<Members> group, Order order, std::function<void()> wake, AttemptDone done)
      : MembersRound(std::move(group)),
        wake_(std::move(wake)),
        order_(std::move(order)),
        done_(std::move(done)),
        ballot_(this->group().quorum()),
        servers_(members().size()) {}

  void start() {
    if (std::optional<std::string> same = group().same_server()) return refuse(std::move(*same));
    if (group().one_by_one()) return ask_next();
    Duration longest{};
    for (std::size_t i = 0; i < members().size(); ++i) longest = std::max(longest, timeout(i));
    limit_to(longest);
    for (std::size_t i = 0; i < members().size() && !over(); ++i) ask(i);
    asked_ = members().size();  // before that nothing is decided: who is asked after it could not be undone
    decide();
  }

 private:
  Duration timeout(std::size_t i) const {  // of what is left, if others were asked before
    const Duration left = std::max<Duration>(order_.timeout - (Clock::now() - started_), milliseconds(1));
    return std::min(left, vote_timeout(members()[i].runtime->config(), order_.lease));
  }
  void ask_next() {
    const std::size_t next = asked_++;
    limit_to(timeout(next));
    if (!over()) ask(next);
  }
  void ask(std::size_t i) {
    Order order = order_;
    order.timeout = timeout(i);
    if (group().must_differ(i)) members()[i].runtime->identify();
    members()[i].target->attempt(std::move(order), [this, i, told = hears(i)](Attempt vote) {
      if (group().on_vote(round_, i, vote)) wake_();
      told(std::move(vote));
    });
  }
  void on_word(std::size_t i, Attempt vote) override {
    servers_[i] = vote.server;
    ballot_.record(i, std::move(vote));
    members()[i].runtime->identity().waited_for();
    decide();
  }
  void on_limit() override {
    if (!group().one_by_one()) asked_ = members().size();
    for (std::size_t i = 0; i < asked_; ++i) {
      if (ballot_.has_voted(i)) continue;
      Attempt silent;
      silent.kind = Attempt::Kind::unknown;
      silent.error = Errc::unknown_outcome;
      silent.cause = kSilent;
      ballot_.record(i, std::move(silent));
      members()[i].runtime->identity().waited_for();
    }
    decide();
  }

  /// A first grant counts when it is known of all which servers they are, but of those that don't answer in time: two
  /// addresses of one server are to be found by the first who asks, and not by whoever comes when both are connected.
  bool knows_too_little() const {
    for (std::size_t i = 0; i < members().size(); ++i) {
      if (group().must_differ(i) && !ballot_.has_voted(i) && members()[i].runtime->identity().to_be_waited_for())
        return true;
    }
    return false;
  }

  void decide() {
    if (over() || (!group().one_by_one() && asked_ < members().size())) return;
    if (ballot_.won() && knows_too_little()) return;
    if (ballot_.won() || ballot_.failed()) {
      end();
      const bool in_time = Clock::now() < lease_end(started_, order_.lease);
      std::optional<std::string> same = group().same_server(servers_);  // it may have shown just now
      if (ballot_.won() && in_time && !same) return win();
      fail(std::move(same));
    } else if (group().one_by_one()) {
      ask_next();
    }
  }

  void win() {
    Attempt attempt;
    attempt.kind = Attempt::Kind::granted;
    attempt.grant.owner = order_.owner;  // what single members have said of it has no meaning for all of them
    attempt.sent_at = started_;
    if (order_.acks.wanted()) attempt.acks_era = era_of_votes();
    for (std::size_t i = 0; i < asked_; ++i) {
      if (ballot_.vote(i) && !ballot_.vote(i)->may_stand()) withdraw(i);
    }
    std::exchange(done_, {})(std::move(attempt));
  }
  /// As of now, if those who granted it did so in their present ones.
  std::uint32_t era_of_votes() const {
    for (std::size_t i = 0; i < asked_; ++i) {
      const auto& vote = ballot_.vote(i);
      const bool granted = vote && vote->kind == Attempt::Kind::granted;
      if (granted && vote->acks_era != members()[i].target->acks_era()) return 0;
    }
    return group().acks_era();
  }
  void withdraw(std::size_t i) { members()[i].target->withdraw(order_.owner, order_.lease); }

  static Attempt refusal(std::string cause) {
    return {.kind = Attempt::Kind::refused, .error = Errc::invalid_argument, .cause = std::move(cause)};
  }
  void refuse(std::string cause) {
    end();
    std::exchange(done_, {})(refusal(std::move(cause)));
  }

  /// Releases wherever a grant may stand or still come: not where the server has said that somebody else has it.
  void fail(std::optional<std::string> same_server) {
    Attempt attempt;
    if (same_server) {
      attempt = refusal(std::move(*same_server));
    } else if (ballot_.won()) {
      attempt.kind = Attempt::Kind::transient;
      attempt.error = Errc::no_quorum;
      attempt.cause = "the votes took longer than the lease: " + ballot_.text(group().nodes());
    } else {
      attempt = ballot_.result(group().nodes(), split_pause());
    }
    for (std::size_t i = 0; i < asked_; ++i) {
      const auto& vote = ballot_.vote(i);
      if (!vote || vote->may_stand()) {
        members()[i].target->undo(order_.owner, order_.lease);
      } else {
        withdraw(i);
      }
    }
    std::exchange(done_, {})(std::move(attempt));
  }

  const std::function<void()> wake_;
  const std::uint64_t round_ = group().on_round();
  const Order order_;
  AttemptDone done_;  // taken when it is decided
  const TimePoint started_ = Clock::now();
  Ballot ballot_;
  std::vector<std::uint64_t> servers_;  // who has voted
  std::size_t asked_ = 0;               // members
};

/// A release on all members.
class ReleaseRound final : public MembersRound<Released> {
 public:
  ReleaseRound(std::shared_ptr<Members> group, ReleaseDone done)
      : MembersRound(std::move(group)), done_(std::move(done)), pending_(runtime().pending().begin()) {}

  void start(const wire::Owner& owner, TimePoint deadline, TimePoint give_up) {
    limit_to(give_up - Clock::now());
    for (std::size_t i = 0; i < members().size(); ++i) {
      members()[i].target->release(owner, deadline, give_up, hears(i));
    }
  }

 private:
  void on_word(std::size_t, Released released) override {
    const auto [members, needed] = group().quorum();
    listeners_ = std::max(listeners_, released.listeners);
    ++known_;
    if (released.outcome == ReleaseOutcome::released) ++released_;
    if (released.outcome == ReleaseOutcome::was_lost) ++lost_;
    if (released_ >= needed) {
      decide(ReleaseOutcome::released);
    } else if (lost_ > members - needed) {
      decide(ReleaseOutcome::was_lost);
    } else if (known_ == members) {
      decide(ReleaseOutcome::unknown);
    }
  }
  void on_limit() override { decide(ReleaseOutcome::unknown); }
  void decide(ReleaseOutcome outcome) {
    end();
    std::exchange(done_, {})({outcome, listeners_});
    pending_ = {};
  }

  ReleaseDone done_;        // taken when it is decided
  Pending::Token pending_;  // close() waits until then
  std::size_t known_ = 0, released_ = 0, lost_ = 0;
  std::int64_t listeners_ = 0;  // where there were most
};

/// One renewal on all members, and the healing of those that have lost it.
class RenewRound final : public MembersRound<Renewed> {
 public:
  RenewRound(std::shared_ptr<Members> group, std::shared_ptr<Tenancy> hold, milliseconds lease, RenewDone done)
      : MembersRound(std::move(group)),
        hold_(std::move(hold)),
        lease_(lease),
        done_(std::move(done)),
        heard_(members().size()) {}

  void start() {
    Duration longest{};
    for (const Member& member : members()) {
      longest = std::max(longest, renewal_timeout(hold_->lease(), member.runtime->config().timing.command_timeout));
    }
    limit_to(longest);
    for (std::size_t i = 0; i < members().size() && !over(); ++i) {
      members()[i].target->renew(hold_, lease_, hears(i));
    }
  }

 private:
  void on_word(std::size_t i, Renewed vote) override {
    heard_[i] = true;
    if (vote.kind == Renewed::Kind::extended) {
      servers_.push_back(members()[i].runtime->router().server());
      const bool again = servers_.back() > redis::kNameless && std::ranges::count(servers_, servers_.back()) > 1;
      if (again && group().servers() == Members::Servers::different) {
        add_trouble(i, "it is the same server as another");
      } else {
        ++extended_;
        confirmed_ = confirmed_ && vote.acks_era == members()[i].target->acks_era();
      }
    }
    if (vote.kind == Renewed::Kind::gone) gone_.push_back(i);
    if (vote.kind == Renewed::Kind::unanswered) add_trouble(i, vote.cause);
    decide();
  }
  void on_limit() override {
    for (std::size_t i = 0; i < heard_.size(); ++i) {
      if (!heard_[i]) add_trouble(i, kSilent);
    }
    decide();
  }
  void add_trouble(std::size_t i, const std::string& cause) {
    ++unanswered_;
    trouble_ += (trouble_.empty() ? "" : "; ") + group().nodes()[i] + ": " + cause;
  }

  void decide() {
    const auto [members, needed] = group().quorum();
    const bool extended = extended_ >= needed;
    const bool all_heard = extended_ + gone_.size() + healed_ + unanswered_ == members;
    if (extended) {
      tell({Renewed::Kind::extended, started_, {}, confirmed_ ? group().acks_era() : 0});
    } else if (gone_.size() > members - needed) {
      tell({Renewed::Kind::gone, started_, {}});
    } else if (all_heard) {
      tell({Renewed::Kind::unanswered, started_, trouble_});
    }
    if (extended && !hold_->ended()) {
      for (const std::size_t member : std::exchange(gone_, {})) {
        ++healed_;
        heal(member);
      }
    }
    if (all_heard) end();
  }
  void tell(const Renewed& renewed) {
    if (done_) std::exchange(done_, {})(renewed);
  }

  void heal(std::size_t i) {
    const Member& member = members()[i];
    const milliseconds lease = hold_->lease();
    member.target->attempt({hold_->owner(), lease, vote_timeout(member.runtime->config(), lease), false, hold_->acks()},
                           [member, hold = hold_](const Attempt& vote) {
                             // One that has ended meanwhile has sent its release before this came to be.
                             if (!vote.may_stand() || !hold->ended()) return;
                             member.target->undo(hold->owner(), hold->lease());
                           });
  }

  const std::shared_ptr<Tenancy> hold_;
  const milliseconds lease_;
  RenewDone done_;  // taken when it is decided
  const TimePoint started_ = Clock::now();
  std::vector<bool> heard_;
  std::vector<std::uint64_t> servers_;       // that have extended it
  bool confirmed_ = hold_->acks().wanted();  // by all of those, in their present eras
  std::size_t extended_ = 0, unanswered_ = 0, healed_ = 0;
  std::vector<std::size_t> gone_;  // not yet being healed
  std::string trouble_;
};

}  // namespace

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
    uses->push_back(members()[i].target->begin_use(waiter, [weak = weak_from_this(), i, waiter, listener](Busy busy) {
      const auto group = std::static_pointer_cast<QuorumTarget>(weak.lock());
      if (!group || busy) return;  // others may do
      const bool told_no_more = !group->members()[i].target->subscribed(waiter);
      if (group->group_.on_release(i) || told_no_more) listener({});
    }));
  }
  return uses;
}

void QuorumTarget::add_keys(std::vector<std::shared_ptr<KeyTarget>>& to) {
  for (const Member& member : members()) member.target->add_keys(to);
}

void QuorumTarget::attempt(Order order, AttemptDone done) {
  order.owner.text = runtime().make_owner().text;
  std::make_shared<AcquireRound>(shared_group(), std::move(order), [this] { heard(); }, std::move(done))->start();
}

void QuorumTarget::release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) {
  std::make_shared<ReleaseRound>(shared_group(), std::move(done))->start(owner, deadline, give_up);
}

void QuorumTarget::renew(const std::shared_ptr<Tenancy>& hold, milliseconds lease, RenewDone done) {
  std::make_shared<RenewRound>(shared_group(), hold, lease, std::move(done))->start();
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
