// SPDX-License-Identifier: Apache-2.0
#include "lock/targets/key_target.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/error.hpp>

#include "base/text.hpp"
#include "kinds/owner.hpp"
#include "lock/queue/tenancy.hpp"
#include "lock/renew/confirmations.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/targets.hpp"
#include "loop/alarm.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::engine {

KeyTarget::KeyTarget(boost::intrusive_ptr<Targets> targets, std::string name, const std::vector<std::string>* several,
                     const Plan& plan, std::uint16_t slot)
    : Target(std::move(name)),
      plan_(plan),
      several_(several != nullptr ? std::make_unique<const std::vector<std::string>>(*several) : nullptr),
      slot_(slot),
      targets_(std::move(targets)) {}

KeyTarget::~KeyTarget() { targets_->forget(*this); }

Runtime& KeyTarget::runtime() const { return targets_->runtime_; }
Watchdog& KeyTarget::watchdog() const { return targets_->watchdog_; }

void KeyTarget::tell_unions() noexcept { targets_->wake_unions(*this); }
void KeyTarget::stay() noexcept { targets_->keep(self()); }

std::shared_ptr<Target> KeyTarget::granted(const wire::Grant& grant) {
  if (plan_.each == nullptr) return shared_from_this();
  return targets_->target({lock_name(grant.which.value_or(0))}, *plan_.each);
}

redis::Shard& KeyTarget::shard() const { return runtime().router().shard_of_slot(slot_); }

redis::Subscriptions& KeyTarget::subscriptions() const { return *shard().subscriptions(); }

bool KeyTarget::stands_on(const redis::Shard& its_shard) const { return &shard() == &its_shard; }

bool KeyTarget::lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const {
  return &client == &runtime() && slots[slot_];
}

bool KeyTarget::has(const std::string& each) const {
  return several_ ? std::ranges::find(*several_, each) != several_->end() : name() == each;
}

wire::LockNames KeyTarget::names(std::size_t which) const {
  return plan_.transitions.names(runtime().config().name_prefix + lock_name(which));
}

std::vector<wire::LockNames> KeyTarget::all_names() const {
  std::vector<wire::LockNames> all;
  all.reserve(locks());
  for (std::size_t i = 0; i < locks(); ++i) all.push_back(names(i));
  return all;
}

std::vector<std::string> KeyTarget::wake_channels(const wire::Owner& waiter) const {
  const auto own = plan_.transitions.wake_channel;
  std::vector<std::string> channels;
  for (wire::LockNames& each : all_names()) {
    channels.push_back(own == nullptr ? std::move(each.channel) : own(each, waiter));
  }
  return channels;
}

/// Those that all waiters have in common: none, if each has its own, or nobody is told.
std::vector<std::string> KeyTarget::common_channels() const {
  if (plan_.transitions.wake_channel != nullptr || !announces()) return {};
  return wake_channels({});
}

Publish KeyTarget::publish() const {
  redis::Router& router = runtime().router();
  const Publish how = router.publish();
  if (how == Publish::publish) return how;
  const std::vector<wire::LockNames> all = all_names();
  const std::uint16_t slot = router.slot_of(all.front().key);
  const auto beside = [&](const wire::LockNames& each) { return router.slot_of(each.channel) == slot; };
  return std::ranges::all_of(all, beside) ? how : Publish::publish;
}

std::vector<std::string> KeyTarget::sharded_channels() const {
  return publish() == Publish::publish ? std::vector<std::string>() : common_channels();
}

std::int64_t KeyTarget::others(std::int64_t reached, bool asked) const {
  if (!announces()) return 0;
  const redis::Subscriptions& here = subscriptions();
  const redis::Listeners& listeners = *runtime().listeners();
  if (asked || !here.counts_all(publish())) ++reached;  // somebody may listen at another node
  if (listeners.none()) return std::max<std::int64_t>(reached, 0);
  std::int64_t subscribed = 0;
  std::int64_t waiters = 0;
  for (const std::string& channel : common_channels()) {
    if (!asked && here.subscribed(channel, publish())) ++subscribed;
    waiters = std::max(waiters, static_cast<std::int64_t>(listeners.users(channel)));
  }
  return std::max<std::int64_t>(reached - subscribed, 0) + waiters;
}

Audience KeyTarget::audience(std::int64_t reached, bool asked) const {
  const redis::Subscriptions& here = subscriptions();
  if (asked || plan_.traits.announced != Traits::Announced::all || !here.counts_all(publish())) return {};
  std::vector<std::string> channels = common_channels();
  if (channels.size() != 1) return {};
  if (here.subscribed(channels.front(), publish())) --reached;
  return {std::move(channels.front()), std::max<std::int64_t>(reached, 0)};
}

std::vector<KeyTarget::Heard> KeyTarget::heard_so_far() const {
  std::vector<Heard> heard;
  const redis::Listeners& listeners = *runtime().listeners();
  if (listeners.none()) return heard;
  for (std::string& channel : common_channels()) {
    const std::uint64_t messages = listeners.messages(channel);
    heard.push_back({std::move(channel), messages});
  }
  return heard;
}

/// Redis 7.0 sends what a script publishes to the client itself before the script's reply, Redis 8 behind it. Who waits
/// for a lock of another kind here, or for what an undo gives back, learns of the release from this message only.
void KeyTarget::expect_own(std::int64_t reached, const std::vector<Heard>& before) const {
  if (reached < static_cast<std::int64_t>(before.size())) return;
  redis::Subscriptions& here = subscriptions();
  for (const auto& [channel, messages] : before) {
    if (runtime().listeners()->messages(channel) == messages) here.expect_own(channel);
  }
}

base::Command KeyTarget::return_command(Returned what, const wire::Owner& owner, milliseconds repeated) const {
  const std::vector<wire::LockNames> names = all_names();
  if (what == Returned::place)
    return plan_.transitions.leave({names, owner, runtime().config().kinds.fair_turn, publish()});
  wire::ReleaseCall call{.names = names, .owner = owner, .publish = publish()};
  if (plan_.transitions.leave != nullptr) call.turn = runtime().config().kinds.fair_turn;
  if (!plan_.traits.repeatable) {
    call.once = wire::Once{wire::released_key(owner), repeated};
    if (what == Returned::perhaps_hold) call.undoes = wire::acquired_key(owner);
  }
  return plan_.transitions.release(call);
}

namespace {

ReleaseReply judge(const Plan& plan, KeyTarget::Returned what, const redis::Result& result) {
  using Kind = ReleaseReply::Kind;
  if (result.delivery == redis::Delivery::unknown) return {Kind::unknown, result.cause};
  if (result.delivery == redis::Delivery::not_sent) {
    return {result.error == Errc::closed ? Kind::closed : Kind::not_sent, result.cause};
  }
  const base::Reply& reply = result.replies.front();
  if (!reply.is_error()) {
    if (what == KeyTarget::Returned::place) return {Kind::deleted};
    const std::optional<std::int64_t> listeners = plan.transitions.decode_release(reply);
    return {listeners ? Kind::deleted : Kind::absent, {}, listeners.value_or(0)};
  }
  const redis::Meaning meaning = redis::classify(reply.text);
  if (meaning.code == Errc::wrong_type) return {Kind::wrong, reply.text};
  return {meaning.fate == redis::Fate::transient ? Kind::transient : Kind::error, reply.text};
}

/// How long after the first send it may be sent again. Only kinds that are not repeatable need to know.
milliseconds time_of_repetition(const KeyTarget& target, const ReleaseFsm& fsm) {
  if (target.plan().traits.repeatable) return {};
  return repeated_for(fsm.give_up() - base::Clock::now(), target.runtime().config().timing.command_timeout);
}

/// Keeps itself alive until it is finished.
class ReleaseOp : public std::enable_shared_from_this<ReleaseOp> {
 public:
  ReleaseOp(std::shared_ptr<KeyTarget> target, KeyTarget::Returned what, wire::Owner owner, ReleaseFsm fsm,
            ReleaseDone done)
      : runtime_(target->runtime()),
        keep_(runtime_.keep_alive()),
        target_(std::move(target)),
        what_(what),
        repeated_(time_of_repetition(*target_, fsm)),
        owner_(std::move(owner)),
        fsm_(fsm),
        done_(std::move(done)),
        pending_(runtime_.pending().begin()) {}

  ReleaseOp(const ReleaseOp&) = delete;
  ReleaseOp& operator=(const ReleaseOp&) = delete;
  /// Nothing holds it any more, and it is not finished: there was no memory to go on, or its loop is gone.
  ~ReleaseOp() {
    if (done_ && !runtime_.unusable()) tell({});
  }

  void start() noexcept { carry_out(fsm_.start()); }

 private:
  void carry_out(const ReleaseAction& action) noexcept {
    switch (action.kind) {
      case ReleaseAction::Kind::send:
        return send();
      case ReleaseAction::Kind::pause:
        return alarm_.set(action.until, shared_from_this());
      case ReleaseAction::Kind::finish:
        return finish(action);
    }
  }

  void send() noexcept {
    try {
      if (what_ != KeyTarget::Returned::place) heard_before_ = target_->heard_so_far();
      auto request = redis::Request::of(target_->return_command(what_, owner_, repeated_),
                                        runtime_.config().timing.command_timeout, redis::Operation::release);
      if (what_ != KeyTarget::Returned::place) request.tells = target_->sharded_channels();
      runtime_.send(
          std::move(request), [self = shared_from_this()](const redis::Result& result) { self->on_result(result); },
          2 * Runtime::kMostWaiting);
    } catch (...) {
      // Out of memory: once more, later. On a group's loop nothing was handed over: its other members, or the lease.
      if (!runtime_.loop().inside()) return tell({});
      carry_out(fsm_.on_reply(base::Clock::now(), {ReleaseReply::Kind::not_sent}));
    }
  }

  void finish(const ReleaseAction& action) noexcept {
    Released released{action.outcome};
    try {
      released.listeners = target_->others(action.listeners, asked_);
      if (!asked_) target_->expect_own(action.listeners, heard_before_);
    } catch (...) {
      // Out of memory: as if nobody had listened.
    }
    if (action.outcome == ReleaseOutcome::released) remember(action.listeners);
    tell(released);
  }

  /// A successor of this server may not know of it.
  void remember(std::int64_t reached) noexcept {
    if (!runtime_.has_successors()) return;
    try {
      target_->targets().recent_releases().add(target_->return_command(what_, owner_, repeated_), base::Clock::now(),
                                               fsm_.give_up(), target_->audience(reached, asked_));
    } catch (...) {
      // Out of memory: its lease ends it there.
    }
  }

  void tell(const Released& released) noexcept {
    const ReleaseDone done = std::exchange(done_, {});
    try {
      done(released);
    } catch (...) {
      // Out of memory for whoever was to be told; the release itself is done.
    }
  }

  void on_result(const redis::Result& result) noexcept {
    if (!runtime_.loop().inside()) return tell({});  // the client is over, or stands still: nothing was sent
    asked_ = result.asked;
    ReleaseReply reply;
    try {
      reply = judge(target_->plan(), what_, result);
    } catch (...) {
      reply.kind = ReleaseReply::Kind::unknown;  // out of memory: what came is forgotten, and asked for again
    }
    const bool in_doubt = reply.kind == ReleaseReply::Kind::unknown || reply.kind == ReleaseReply::Kind::error;
    if (in_doubt && what_ != KeyTarget::Returned::place) {
      runtime_.reporter().add(&Counters::unknown);
      runtime_.reporter().tell(&Observer::on_unknown, [&] {
        return UnknownEvent{target_->name(), owner_.text, UnknownEvent::Operation::release, reply.cause};
      });
    }
    carry_out(fsm_.on_reply(base::Clock::now(), reply));
  }

  Runtime& runtime_;  // outlives the thread that runs this
  const std::shared_ptr<void> keep_;
  const std::shared_ptr<KeyTarget> target_;
  const KeyTarget::Returned what_;
  const milliseconds repeated_;  // see time_of_repetition()
  const wire::Owner owner_;
  ReleaseFsm fsm_;
  ReleaseDone done_;  // empty once it has been told
  timing::Alarm alarm_{runtime_.loop().schedule(), [this] { carry_out(fsm_.on_time()); },
                       timing::Alarm::AtClose::rings};
  const Pending::Token pending_;
  std::vector<KeyTarget::Heard> heard_before_;  // when it was last sent
  bool asked_ = false;                          // the latest one went behind an ASKING
};

}  // namespace

void start_return(const std::shared_ptr<KeyTarget>& target, KeyTarget::Returned what, const wire::Owner& owner,
                  ReleaseFsm fsm, ReleaseDone done) {
  std::make_shared<ReleaseOp>(target, what, owner, fsm, std::move(done))->start();
}

namespace {

/// Which of several is taken: a caller who waited in vain wants to know.
std::string blocker_text(const wire::LockNames& blocker, milliseconds busy_for) {
  std::string text = base::quote(blocker.key) + " is held by somebody else";
  if (busy_for.count() >= 0) text += ", for another " + std::to_string(busy_for.count()) + " ms unless it is renewed";
  return text;
}

Attempt::Kind kind_of(redis::Fate fate) {
  switch (fate) {
    case redis::Fate::transient:
      return Attempt::Kind::transient;
    case redis::Fate::lasting:
    case redis::Fate::denied:
      return Attempt::Kind::refused;
    case redis::Fate::ran:
      return Attempt::Kind::failed;
    case redis::Fate::unknown:
      break;
  }
  return Attempt::Kind::unknown;
}

/// The channels are in use as long as this lives.
struct ChannelUse {
  ChannelUse(std::shared_ptr<redis::Listeners> all, std::vector<std::string> used)
      : listeners(std::move(all)), names(std::move(used)) {}
  ~ChannelUse() {
    for (std::size_t i = 0; i < ids.size(); ++i) listeners->end_use(names[i], ids[i], base::Clock::now());
  }
  ChannelUse(const ChannelUse&) = delete;
  ChannelUse& operator=(const ChannelUse&) = delete;

  const std::shared_ptr<redis::Listeners> listeners;
  const std::vector<std::string> names;
  std::vector<std::uint64_t> ids;
};

/// How many permits there are, if there are never as many as were asked for.
std::string why_never(const wire::AcquireReply& busy) {
  if (!busy.in_all) return {};
  return *busy.in_all == 1 ? "there is 1 in all" : "there are " + std::to_string(*busy.in_all) + " in all";
}

}  // namespace

void KeyTarget::on_part_free(const KeyTarget& part) {
  if (plan().each == &part.plan() && has(part.name())) wake();
}

bool KeyTarget::subscribed(const wire::Owner& waiter) const {
  return announces() && !runtime().listeners()->none() &&
         subscriptions().all_subscribed(wake_channels(waiter), publish());
}

void KeyTarget::add_renewals(std::vector<wire::Renewal>& to, const wire::Owner& owner) const {
  for (wire::LockNames& each : all_names()) to.push_back({std::move(each.key), owner.text, owner.ask.mode});
}

std::uint32_t KeyTarget::acks_era() const { return watchdog().confirmations().era(slot()); }

std::string KeyTarget::where() const { return runtime().node(); }

Target::Use KeyTarget::begin_use(const wire::Owner& waiter, const Listener& listener) {
  auto use = std::make_shared<ChannelUse>(runtime().listeners(), wake_channels(waiter));
  for (const std::string& channel : use->names) use->ids.push_back(use->listeners->begin_use(channel, listener));
  return use;
}

void KeyTarget::attempt(Order order, AttemptDone done) {
  // Who shares it wants to know who waits for those who do, as nobody is told of a release meanwhile.
  const bool count = (order.subscribe || order.owner.ask.mode == wire::Mode::shared) && !blind_;
  auto request = redis::Request::of(acquire_command(order, count), order.timeout, redis::Operation::acquire);
  if (order.subscribe) {
    request.subscribe = wake_channels(order.owner);
    request.publish = publish();
  }
  const Reporter& reporter = runtime().reporter();  // lives as long as what runs the handler
  runtime().send(std::move(request),
                 [self = self(), &reporter, owner = std::move(order.owner), acks = order.acks, lease = order.lease,
                  until = order.acks.wanted() ? base::Clock::now() + order.timeout : TimePoint{},
                  done = std::move(done)](const redis::Result& result) mutable {
                   Attempt attempt = self->judge(result);
                   if (attempt.listeners && *attempt.listeners < 0) self->blind_ = true;
                   if (attempt.grant.owner.text.empty()) attempt.grant.owner.text = owner.text;
                   attempt.grant.owner.ask = owner.ask;
                   // A replica that never was more than that is a wrong address, if there is only one; one that gave
                   // locks will have a successor.
                   if (attempt.error == Errc::read_only && reporter.count(&Counters::granted) == 0) {
                     attempt.pointless = !self->runtime().has_successors();
                   }
                   if (acks.wanted() && attempt.kind == Attempt::Kind::granted) {
                     return self->confirm(std::move(attempt), acks, lease, until, std::move(done));
                   }
                   done(std::move(attempt));
                 });
}

void KeyTarget::confirm(Attempt granted, Acks acks, milliseconds lease, TimePoint until, AttemptDone done) {
  std::vector<wire::Renewal> renewals;
  this->granted(granted.grant)->add_renewals(renewals, granted.grant.owner);
  Confirm confirm = watchdog().confirmations().confirm_of(
      std::move(renewals), plan(), slot(), granted.grant.lease.value_or(lease), until - base::Clock::now());
  confirm.done = [self = shared_from_this(), granted = std::move(granted), done = std::move(done)](
                     const Confirmed& confirmed) { done(as_confirmed(granted, confirmed, self->acks_era())); };
  watchdog().confirmations().ask(shard(), acks, std::move(confirm));
}

Attempt KeyTarget::judge(const redis::Result& result) const {
  using Kind = Attempt::Kind;
  Attempt attempt;
  attempt.sent_at = result.sent_at;
  attempt.error = result.error;
  attempt.cause = result.cause;
  attempt.pointless = result.pointless;
  attempt.subscribed = result.subscribed;
  attempt.subscribing = result.subscribing;
  if (result.delivery != redis::Delivery::answered) {
    if (result.delivery == redis::Delivery::unknown) attempt.kind = Kind::unknown;
    attempt.may_pass = runtime().may_pass(result);
    return attempt;
  }
  const base::Reply& reply = result.replies.front();
  wire::AcquireReply decoded = plan().transitions.decode_acquire(reply);
  if (decoded.granted && decoded.grant.which.value_or(0) < locks()) {
    attempt.kind = Kind::granted;
    attempt.grant = std::move(decoded.grant);
    if (decoded.listeners && *decoded.listeners >= 0) attempt.listeners = others(*decoded.listeners);
  } else if (decoded.busy_for && decoded.blocker < locks()) {
    attempt.kind = Kind::busy;
    attempt.busy_for = *decoded.busy_for;
    attempt.listeners = decoded.listeners;
    attempt.of_stranger = !decoded.holder.empty() && !wire::is_named_client(wire::client_of(decoded.holder));
    if (decoded.unset) attempt.error = Errc::not_set;
    if (decoded.in_all) attempt.error = Errc::too_few;
    attempt.cause = why_never(decoded);
    if (several() != nullptr) attempt.cause = blocker_text(all_names()[decoded.blocker], attempt.busy_for);
    if (result.cannot_subscribe) judge_silence(*result.cannot_subscribe, attempt);
  } else {
    const redis::Meaning meaning =
        reply.is_error() ? redis::classify_script(reply.text) : redis::Meaning{Errc::server_error, redis::Fate::ran};
    attempt.kind = kind_of(meaning.fate);
    attempt.may_pass = meaning.may_pass();
    attempt.error = meaning.code;
    attempt.cause = reply.is_error() ? redis::explain(reply.text) : "a reply of an unexpected type";
    // A single server, by its URL, is a node of a cluster, and nobody follows its redirects.
    if (reply.is_error() && redis::is_redirect(reply.text) && runtime().router().only_shard() != nullptr) {
      attempt.error = Errc::unsupported_by_server;
      attempt.pointless = true;
      attempt.may_pass = false;
    }
  }
  return attempt;
}

/// Somebody else has it, and the server will not tell when it is free.
void KeyTarget::judge_silence(const redis::Refusal& refusal, Attempt& attempt) const {
  attempt.cannot_subscribe = refusal.meaning.for_good() && plan().traits.announced != Traits::Announced::all;
  if (attempt.cannot_subscribe) return;
  attempt.kind = kind_of(refusal.meaning.fate);
  attempt.may_pass = refusal.meaning.may_pass();
  attempt.error = refusal.meaning.code;
  attempt.cause = refusal.cause;
}

void KeyTarget::release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) {
  if (plan().transitions.release == nullptr) return done({ReleaseOutcome::released});
  start_return(self(), deadline == kNeverOurs ? Returned::perhaps_hold : Returned::hold, owner,
               ReleaseFsm(deadline, give_up), std::move(done));
}

void KeyTarget::withdraw(const wire::Owner& owner, milliseconds lease) noexcept {
  if (plan().transitions.leave == nullptr || runtime().in_child()) return;
  const TimePoint end = gone_by(base::Clock::now(), lease);
  try {
    start_return(self(), Returned::place, owner, ReleaseFsm(end, end),
                 [undo = runtime().undos().begin()](const Released&) {});
  } catch (...) {
    // Out of memory: the server will find out.
  }
}

base::Command KeyTarget::acquire_command(const Order& order, bool count) const {
  const std::vector<wire::LockNames> names = all_names();
  wire::AcquireCall call{names, order.owner, order.lease, count};
  const Config& config = runtime().config();
  if (order.waits && plan().transitions.leave != nullptr) call.turn = config.kinds.fair_turn;
  // Who takes a permit also tells of those whose leases are over.
  const bool tells = plan().traits.holders == Traits::Holders::several;
  call.publish_busy = order.publish_busy;
  if (count || call.turn || tells) call.publish = publish();
  if (!plan().traits.repeatable) {
    call.once = wire::Once{wire::acquired_key(order.owner),
                           repeated_for(order.lease + margin(order.lease), config.timing.command_timeout)};
  }
  return plan().transitions.acquire(call);
}

void KeyTarget::ask_holder(HolderDone done) {
  engine::ask_holder(runtime(), shard(), plan(), all_names(), std::move(done));
}

void KeyTarget::renew(const std::shared_ptr<Tenancy>& hold, milliseconds lease, RenewDone done) {
  std::vector<wire::Renewal> renewals;
  add_renewals(renewals, hold->owner());
  // What is left needs no acks: a successor that has not heard of it keeps the longer lease.
  if (hold->acks().wanted() && !hold->ended()) {
    return renew_with_acks(hold->acks(), lease, std::move(renewals), std::move(done));
  }
  const Duration timeout = renewal_timeout(hold->lease(), runtime().config().timing.command_timeout);
  auto request = redis::Request::of(plan().transitions.renew(renewals, lease), timeout, redis::Operation::renew);
  if (hold->ended() && hold->target().get() == this) say_last_where_watched(renewals, lease, timeout);
  runtime().send(std::move(request),
                 [self = shared_from_this(), asked = locks(), done = std::move(done)](const redis::Result& result) {
                   done(as_renewed(read_renewal(result, 0, asked)));
                 });
}

void KeyTarget::renew_with_acks(Acks acks, milliseconds lease, std::vector<wire::Renewal> renewals, RenewDone done) {
  if (runtime().unusable()) return done({Renewed::Kind::unanswered, {}, "its client is closed"});
  runtime().hand_over([self = self(), keep = runtime().keep_alive(), renewals = std::move(renewals), acks, lease,
                       done = std::move(done)]() mutable {
    Confirmations& confirmations = self->watchdog().confirmations();
    Confirm confirm = confirmations.confirm_of(std::move(renewals), self->plan(), self->slot(), lease);
    confirm.done = [done = std::move(done)](const Confirmed& confirmed) { done(as_renewed(confirmed)); };
    confirmations.ask(self->shard(), acks, std::move(confirm));
  });
}

/// A renewal to the whole lease may be under way there, which has no order with what all else uses.
void KeyTarget::say_last_where_watched(const std::vector<wire::Renewal>& renewals, milliseconds lease,
                                       Duration timeout) {
  runtime().hand_over([self = self(), command = plan().transitions.renew(renewals, lease), timeout]() mutable {
    KeyWatch* const way = self->watchdog().loss_watch().way_for_renewals(self->shard());
    if (way == nullptr) return;
    std::vector<KeyWatch::Renewal> last;
    last.push_back({std::move(command), {owners_key(self->plan().questions, self->names().key)}});
    way->renew(std::move(last), timeout, [](const redis::Result&) {});
  });
}

void KeyTarget::share(const wire::Owner& owner, milliseconds lease, Duration timeout, const RenewDone& done) {
  const wire::LockNames its = names();
  auto request =
      redis::Request::of(plan().transitions.share({its, owner, lease, publish()}), timeout, redis::Operation::renew);
  request.tells = sharded_channels();
  runtime().send(std::move(request), [self = self(), done](const redis::Result& result) {
    if (result.delivery != redis::Delivery::answered) {
      return done({Renewed::Kind::unanswered, result.sent_at, result.cause});
    }
    const base::Reply& reply = result.replies.front();
    if (reply.is_error()) return done({Renewed::Kind::unanswered, result.sent_at, reply.text});
    const bool shared = self->plan().transitions.decode_release(reply).has_value();
    done({shared ? Renewed::Kind::extended : Renewed::Kind::gone, result.sent_at, {}});
  });
}

/// From the loop of another client, if that serves the hold.
void KeyTarget::watch(const std::shared_ptr<Tenancy>& hold, const Spare& spare) {
  runtime().hand_over([self = self(), hold, spare] {
    const bool own = hold->target() == self && self->locks() < WatchedKeys::kNone;
    WatchedKeys::Which which = 0;
    for (wire::LockNames& each : self->all_names()) {
      std::string key = owners_key(self->plan().questions, std::move(each.key));
      self->watchdog().loss_watch().watch({std::move(key), hold, own ? which++ : WatchedKeys::kNone, spare});
    }
  });
}

std::string KeyTarget::watched_key(std::size_t which) const { return owners_key(plan().questions, names(which).key); }

}  // namespace holdfast::engine
