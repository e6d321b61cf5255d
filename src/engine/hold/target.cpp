#include "engine/hold/target.hpp"

#include "engine/decide/release_fsm.hpp"
#include "engine/hold/watchdog.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

using base::Clock;

namespace {

/// How long waiters let a release go first whose outcome they want to know. It takes a round trip; when it takes
/// longer, something is wrong, and they must find out what.
constexpr Duration kReleaseFirst = milliseconds(100);

}  // namespace

Target::Target(std::string name) : name_(std::move(name)) {}
Target::~Target() = default;

// ---- the queue ----

void Target::enter(Waiter& waiter) {
  const base::Guard guard(mutex_);
  if (!queue_.empty()) handoff();  // several want it
  queue_.enter(waiter);
}

std::optional<Retained> Target::leave(Waiter& waiter) {
  std::optional<Retained> unwanted;
  const base::Guard guard(mutex_);
  if (!queue_.leave(waiter) || !handoff_ || !queue_.empty()) return unwanted;
  unwanted = handoff_->take_unfit();
  rest();
  return unwanted;
}

void Target::wake() {
  const base::Guard guard(mutex_);
  wake_head();
}

void Target::heard() {
  const std::size_t ways = runtime().router().publish() == Publish::both ? 2 : 1;
  const base::Guard guard(mutex_);
  if (!releases_.may_be_own(ways * batched_locks())) other_released();
}

void Target::other_released() {
  if (occupancy_.empty() && handoff_) handoff_->tenure.on_other();
  queue_.post(Waiter::Signal::message);
}

void Target::close() {
  const base::Guard guard(mutex_);
  queue_.post_to_all(Waiter::Signal::closed);
}

void Target::drop_waiters() {
  for (;;) {
    Waiter* waiter = nullptr;
    std::optional<Retained> dropped;  // without the mutex: it may be what the client's end has waited for
    {
      const base::Guard guard(mutex_);
      waiter = queue_.take_head();
      if (handoff_) dropped.swap(handoff_->retained);
    }
    if (waiter == nullptr) return;
    waiter->drop();
  }
}

Target::Use Target::listen(const wire::Owner& waiter) {
  struct Listening {
    Listening(std::shared_ptr<Target> its_target, Use its_use)
        : target(std::move(its_target)), use(std::move(its_use)) {
      const base::Guard guard(target->mutex_);
      ++target->listening_;
    }
    ~Listening() {
      const base::Guard guard(target->mutex_);
      --target->listening_;
      target->rest();
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    const std::shared_ptr<Target> target;
    const Use use;
  };
  return std::make_shared<Listening>(shared_from_this(), begin_use(waiter));
}

// ---- the holder ----

TargetView Target::view() const {
  TargetView view;
  const base::Guard guard(mutex_);
  view.held_here = occupancy_.stands();
  if (const std::optional<TimePoint> ask_after = releases_.ask_after()) {
    view.not_before = *ask_after;
  } else if (handoff_) {
    view.not_before = handoff_->tenure.pause_until();
  }
  if (handoff_) {
    view.others = handoff_->tenure.others();
    view.strangers = handoff_->tenure.strangers(Clock::now());
    view.place_limit = handoff_->place_limit.limit();
  }
  return view;
}

void Target::set_holder(const std::shared_ptr<Holding>& holder) {
  const base::Guard guard(mutex_);
  if (plan().traits.exclusive) occupancy_.enter(*holder);
  if (!handoff_) return;
  handoff_->tenure.on_granted(holder->extended_at());
  handoff_->tenure.on_queue_served(Clock::now());
}

void Target::saw_other(bool stranger) {
  const base::Guard guard(mutex_);
  if (stranger) handoff().tenure.on_stranger(Clock::now());
  if (!releases_.overtakes()) handoff().tenure.on_other();
}

void Target::waited(const Place& place) {
  const base::Guard guard(mutex_);
  if (handoff_) handoff_->place_limit.on_end(place);
}

bool Target::has(const wire::Owner& owner) const {
  const base::Guard guard(mutex_);
  if (handoff_ && handoff_->retained && handoff_->retained->owner == owner) return true;
  return occupancy_.has(owner);
}

void Target::clear_holder(const Holding& holder) {
  const base::Guard guard(mutex_);
  if (plan().traits.exclusive) {
    if (!occupancy_.is(holder)) return;
    occupancy_.leave();
  }
  wake_head();
}

// ---- passing it on ----

Handoff& Target::handoff() {
  if (!handoff_) {
    // Clients that are not told of releases ask now and then: they would starve.
    const Traits& traits = plan().traits;
    const bool passes = traits.announced && traits.exclusive && traits.passable;
    handoff_ = std::make_unique<Handoff>(passes ? runtime().config().handoff : Duration{});
    if (const auto granted_at = occupancy_.extended_at()) handoff_->tenure.on_granted(*granted_at);
  }
  return *handoff_;
}

/// Forgets what is of no use any more.
void Target::rest() {
  if (!handoff_ || !queue_.empty() || releases_.any() || listening_ > 0 || handoff_->tenure.others() > 0) return;
  handoff_.reset();
}

bool Target::retain(Holding& hold) {
  Runtime::Admission admission = runtime().admit();
  const TimePoint now = Clock::now();
  const base::Guard guard(mutex_);
  if (queue_.empty() || !occupancy_.is(hold) || admission.refused || !handoff().tenure.may_pass(now)) return false;
  wire::Owner owner = hold.owner();  // what takes memory comes first
  const std::optional<HoldFsm> passed = hold.end_to_pass_on(now);
  if (!passed) return false;
  occupancy_.leave();
  handoff_->retained.emplace(std::move(owner), passed->last_extension(), passed->lease(), passed->acks(),
                             passed->acked_era(), std::move(admission.token));
  wake_head();
  return true;
}

std::shared_ptr<Holding> Target::take_retained(const Taker& taker, Handoff::From from) {
  std::shared_ptr<Holding> held;
  Pending::Token pending;  // until it is armed
  {
    const base::Guard guard(mutex_);
    if (!handoff_) return nullptr;
    const TimePoint now = Clock::now();
    const Retained* const offer = handoff_->offer(taker.terms, from, now, acks_era());
    if (offer == nullptr) return nullptr;
    held = std::make_shared<Holding>(taker.runtime, shared_from_this(), offer->owner, offer->sent_at, taker.terms,
                                     taker.on_lost, now, nullptr, offer->acked_era);
    pending = handoff_->take(from, now).pending;
    occupancy_.enter(*held);
  }
  watchdog().arm(held);
  return held;
}

std::optional<Retained> Target::take_unfit() {
  const base::Guard guard(mutex_);
  return handoff_ ? handoff_->take_unfit() : std::nullopt;
}

void Target::give_back(Retained retained) noexcept {
  begin_release();
  const TimePoint since = retained.sent_at;
  const TimePoint deadline = lease_end(since, retained.lease);
  const TimePoint give_up = gone_by(since, retained.lease);
  try {
    release(retained.owner, deadline, give_up,
            [self = shared_from_this(), since, pending = std::move(retained.pending)](const Released& released) {
              self->end_release(released, since);
            });
  } catch (...) {
    end_release({}, since);  // out of memory: the lease ends it
  }
}

// ---- giving it back ----

bool Target::others_listened() const {
  const base::Guard guard(mutex_);
  return handoff_ && handoff_->tenure.others() > 0;
}

void Target::begin_release() {
  const base::Guard guard(mutex_);
  const TimePoint now = Clock::now();
  const bool first = handoff_ && handoff_->tenure.must_ask_after_release(now);
  releases_.begin(first ? std::optional(now + kReleaseFirst) : std::nullopt);
}

void Target::end_release(const Released& released, TimePoint held_since) {
  if (released.listeners > 0) stay();
  const base::Guard guard(mutex_);
  const ReleaseTraffic::End end = releases_.end(released.outcome == ReleaseOutcome::released);
  const auto others = static_cast<int>(std::max<std::int64_t>(released.listeners - listening_, 0));
  if (others > 0 && !handoff_) handoff().tenure.on_granted(held_since);
  if (handoff_) handoff_->tenure.on_released(Clock::now(), others);
  if (end.others) other_released();
  if (end.ask_again) wake_head();
  rest();
}

void Target::undo(const wire::Owner& owner, milliseconds lease) noexcept {
  if (runtime().in_child()) return;
  const TimePoint end = gone_by(Clock::now(), lease);
  try {
    release(owner, kNeverOurs, end, [undo = runtime().undos().begin()](const Released&) {});
  } catch (...) {
    // Out of memory: the lease ends it, if there is one.
  }
  withdraw(owner, lease);
}

}  // namespace holdfast::engine
