// SPDX-License-Identifier: Apache-2.0
#include "lock/queue/queue.hpp"

#include <algorithm>
#include <utility>

#include "lock/queue/target.hpp"
#include "lock/queue/tenancy.hpp"
#include "lock/runtime/runtime.hpp"

namespace holdfast::engine {

void WaitQueue::enter(Waiter& waiter) {
  const bool first = head_ == nullptr;
  if (first) {
    head_ = waiter.next = waiter.previous = &waiter;
    waiter.alone = 0;
  } else {
    waiter.next = head_;
    waiter.previous = head_->previous;
    waiter.previous->next = head_->previous = &waiter;
  }
  if (!waiter.shares()) ++head_->alone;
  if (first) waiter.post(Waiter::Signal::turn);
}

bool WaitQueue::leave(Waiter& waiter) {
  if (!waiter.is_linked()) return false;
  const bool was_head = head_ == &waiter;
  take_out(waiter);
  if (was_head) post(Waiter::Signal::turn);
  return was_head;
}

void WaitQueue::post(Waiter::Signal signal) {
  if (head_ != nullptr) head_->post(signal);
}

void WaitQueue::post_to_all(Waiter::Signal signal) {
  Waiter* each = head_;
  if (each == nullptr) return;
  do {
    each->post(signal);
    each = each->next;
  } while (each != head_);
}

Waiter* WaitQueue::take_head() {
  Waiter* const head = head_;
  if (head != nullptr) take_out(*head);
  return head;
}

void WaitQueue::take_out(Waiter& waiter) {
  if (!waiter.shares()) --head_->alone;
  if (head_ == &waiter) {
    head_ = waiter.next == &waiter ? nullptr : waiter.next;
    if (head_ != nullptr) head_->alone = waiter.alone;
  }
  waiter.previous->next = waiter.next;
  waiter.next->previous = waiter.previous;
  waiter.next = waiter.previous = nullptr;
}

using base::Clock;

namespace {

/// How long waiters let a release go first whose outcome they want to know. It takes a round trip; if it takes longer
/// than this, something is wrong, and they must find out what.
constexpr Duration kReleaseFirst = milliseconds(100);
/// How old a tenancy may be for further callers to share it. After that one of them asks the server again, which says
/// who else waits.
constexpr Duration kShared = std::chrono::seconds(1);

}  // namespace

Target& Queue::target() { return static_cast<Target&>(*this); }
const Target& Queue::target() const { return static_cast<const Target&>(*this); }

void Queue::enter(Waiter& waiter) {
  const base::Guard guard(mutex_);
  const bool first = queue_.empty();
  if (!first) contention();  // several want it
  queue_.enter(waiter);
  if (!first && target().everyone_asks()) waiter.post(Waiter::Signal::turn);
}

std::optional<Retained> Queue::leave(Waiter& waiter) {
  std::optional<Retained> unwanted;
  const base::Guard guard(mutex_);
  if (!queue_.leave(waiter) || !contention_ || !queue_.empty()) return unwanted;
  unwanted = contention_->take_retained();
  rest();
  return unwanted;
}

void Queue::wake_waiters() {
  const base::Guard guard(mutex_);
  post(Waiter::Signal::wake);
}

/// It may have become free. A server that keeps a queue tells whoever is next by itself.
void Queue::wake_head() {
  if (!target().everyone_asks()) post(Waiter::Signal::wake);
}

void Queue::heard_by_all() {
  const std::size_t ways = target().runtime().router().publish() == Publish::both ? 2 : 1;
  const base::Guard guard(mutex_);
  if (!releases_.may_be_own(ways * target().locks())) other_released();
}

void Queue::other_released() {
  if (!has_claims() && contention_) contention_->tenure.on_other();
  if (contention_) contention_->busy_until = {};
  post(Waiter::Signal::message);
}

void Queue::heard_busy(milliseconds left) {
  const base::Guard guard(mutex_);
  if (queue_.empty() || target().locks() != 1) return;
  contention().busy_until = left < kLongestLease ? Clock::now() + left : TimePoint::max();
  queue_.post(Waiter::Signal::busy);
}

void Queue::post(Waiter::Signal signal) {
  if (target().everyone_asks()) {
    queue_.post_to_all(signal);
  } else {
    queue_.post(signal);
  }
}

void Queue::heard_by(Waiter& waiter) {
  const base::Guard guard(mutex_);
  if (waiter.is_linked()) waiter.post(Waiter::Signal::message);
}

void Queue::end_waits() {
  const base::Guard guard(mutex_);
  queue_.post_to_all(Waiter::Signal::closed);
}

void Queue::drop_waiters() {
  for (;;) {
    Waiter* waiter = nullptr;
    std::optional<Retained> dropped;  // without the mutex: it may be what the client's end has waited for
    {
      const base::Guard guard(mutex_);
      waiter = queue_.take_head();
      if (contention_) dropped.swap(contention_->retained);
    }
    if (waiter == nullptr) return;
    waiter->drop();
  }
}

std::shared_ptr<void> Queue::listen(const wire::Owner& owner, Waiter& waiter) {
  struct Listening {
    Listening(std::shared_ptr<Queue> its_queue, Target::Use its_use)
        : queue(std::move(its_queue)), use(std::move(its_use)) {
      const base::Guard guard(queue->mutex_);
      ++queue->listening_;
    }
    ~Listening() {
      const base::Guard guard(queue->mutex_);
      --queue->listening_;
      queue->rest();
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    const std::shared_ptr<Queue> queue;
    const Target::Use use;
  };
  const std::weak_ptr<Target> weak = target().weak_from_this();
  const auto to_all = [weak](Target::Busy busy) {
    const std::shared_ptr<Target> target = weak.lock();
    if (target) busy ? target->heard_busy(*busy) : target->heard();
  };
  const auto to_one = [weak, &waiter](Target::Busy) {  // it ends the use before it goes
    if (const std::shared_ptr<Target> target = weak.lock()) target->heard_by(waiter);
  };
  auto use = target().everyone_asks() ? target().begin_use(owner, to_one) : target().begin_use(owner, to_all);
  return std::make_shared<Listening>(target().shared_from_this(), std::move(use));
}

// ---- the holder ----

TargetView Queue::view(const wire::Ask& ask) const {
  TargetView view;
  if (target().everyone_asks()) return view;  // the server is to know of each of them, whoever has it
  const TimePoint now = Clock::now();
  const base::Guard guard(mutex_);
  const bool shares = has_claims() && can_share(ask);
  view.held_here = has_claims() && !shares && tenancy_->valid_for(now) > Duration{};
  if (contention_) {
    view.not_before = releases_.goes_first() ? contention_->release_first_until : contention_->tenure.pause_until();
    view.others = contention_->tenure.others();
    view.strangers = contention_->tenure.strangers(now);
    view.place_limit = contention_->place_limit.limit();
    view.busy_until = contention_->busy_until;
    if (shares && contention_->tenure.must_end(now) && tenancy_->valid_for(now) > Duration{}) {
      view.not_before = std::max(view.not_before, contention_->tenure.hold_back_until());
    }
  }
  return view;
}

/// Whoever asks for this may share it with those here who have it already.
bool Queue::can_share(const wire::Ask& ask) const {
  return tenancy_ != nullptr && ask.mode == wire::Mode::shared && tenancy_->ask().mode == wire::Mode::shared;
}

void Queue::set_tenancy(Tenancy& tenancy, std::int64_t listeners) {
  const base::Guard guard(mutex_);
  const auto others = static_cast<int>(std::max<std::int64_t>(listeners - listening_, 0));
  if (others > 0) contention().tenure.on_listeners(others);
  if (target().plan().traits.holders != Traits::Holders::several) tenancy_ = &tenancy;
  if (!contention_) return;
  contention_->tenure.on_granted(tenancy.extended_at());
  contention_->tenure.on_queue_served(Clock::now());
}

void Queue::saw_other(bool stranger) {
  if (target().plan().traits.holders == Traits::Holders::several)
    return;  // it may be callers of this client who have them all
  const base::Guard guard(mutex_);
  if (stranger) contention().tenure.on_stranger(Clock::now());
  if (!releases_.overtakes()) contention().tenure.on_other();
}

void Queue::waited(const Place& place) {
  const base::Guard guard(mutex_);
  if (contention_) contention_->place_limit.on_end(place);
}

void Queue::forget(const Tenancy& tenancy) {
  if (forget_here(tenancy)) target().tell_unions();
}

/// True if it was held by this tenancy.
bool Queue::forget_here(const Tenancy& tenancy) {
  std::optional<Retained> lost;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  const bool was_it = tenancy_ == &tenancy;
  if (was_it) tenancy_ = nullptr;
  if (contention_ && contention_->retained && contention_->retained->tenancy.get() == &tenancy) {
    lost = contention_->take_retained();
  } else if (!was_it && (target().plan().traits.holders == Traits::Holders::one || !target().plan().traits.holds)) {
    return false;
  }
  wake_head();
  return was_it;
}

// ---- passing it on ----

Contention& Queue::contention() {
  if (!contention_) {
    // Clients that are not told of releases ask only now and then: they would starve.
    const Traits& traits = target().plan().traits;
    const bool passes = traits.announced == Traits::Announced::all && traits.passable;
    contention_ = std::make_unique<Contention>(passes ? target().runtime().config().kinds.handoff : Duration{});
    if (tenancy_ != nullptr) contention_->tenure.on_granted(tenancy_->extended_at());
  }
  return *contention_;
}

/// Forgets what is of no use any more.
void Queue::rest() {
  if (!contention_ || !queue_.empty() || releases_.any() || listening_ > 0 || contention_->tenure.others() > 0) return;
  contention_.reset();
}

bool Queue::retain(Claim& claim) {
  Runtime::Admission admission = target().runtime().admit();
  const TimePoint now = Clock::now();
  const base::Guard guard(mutex_);
  if (queue_.empty() || admission.refused || !contention().tenure.may_pass(now)) return false;
  if (target().plan().traits.holders != Traits::Holders::several) {
    if (tenancy_ != &claim.tenancy()) return false;
  } else if (contention_->retained || now >= claim.tenancy().granted_at() + target().runtime().config().kinds.handoff) {
    return false;  // one at a time, each for a tenure at most, since others of the several are granted meanwhile
  }
  if (!claim.begin_pass_on(now)) return false;
  contention_->retained = {claim.tenancy().shared_from_this(), std::move(admission.token)};
  wake_head();
  return true;
}

std::shared_ptr<Claim> Queue::join(const Joining& joining) {
  std::shared_ptr<Tenancy> tenancy;
  std::shared_ptr<Claim> claim;
  std::optional<Retained> taken;  // destroyed without the mutex
  {
    const base::Guard guard(mutex_);
    const TimePoint now = Clock::now();
    const bool from_queue = joining.from == Joining::From::queue;
    if (contention_ && contention_->retained) {
      if (!from_queue && !contention_->tenure.may_overtake(now)) return nullptr;
    } else if (!can_share(joining.ask) || !(from_queue || queue_.all_share()) ||
               now >= tenancy_->granted_at() + kShared || (contention_ && contention_->tenure.must_end(now))) {
      return nullptr;
    }
    Tenancy& there = contention_ && contention_->retained ? *contention_->retained->tenancy : *tenancy_;
    if (there.ask() != joining.ask) return nullptr;
    tenancy = there.weak_from_this().lock();
    claim = tenancy ? tenancy->add_claim(joining.terms, joining.on_lost, now, target().acks_era()) : nullptr;
    if (!claim) return nullptr;
    if (contention_ && from_queue) contention_->tenure.on_queue_served(now);
    if (contention_) taken = contention_->take_retained();
  }
  if (joining.terms.max_hold) target().arm(tenancy);  // due at another time, perhaps
  return claim;
}

std::optional<Retained> Queue::take_retained() {
  const base::Guard guard(mutex_);
  return contention_ ? contention_->take_retained() : std::nullopt;
}

// ---- giving it back ----

bool Queue::others_listened() const {
  const base::Guard guard(mutex_);
  return contention_ && contention_->tenure.others() > 0;
}

void Queue::begin_release() {
  const base::Guard guard(mutex_);
  const TimePoint now = Clock::now();
  const bool first = contention_ && contention_->tenure.must_ask_after_release(now);
  if (first) contention_->release_first_until = now + kReleaseFirst;
  releases_.begin(first);
}

void Queue::end_release(const Released& released, TimePoint held_since) {
  if (released.listeners > 0) target().stay();
  const base::Guard guard(mutex_);
  const ReleaseTraffic::End end = releases_.end(released.outcome == ReleaseOutcome::released);
  const auto others = static_cast<int>(std::max<std::int64_t>(released.listeners - listening_, 0));
  if (others > 0 && !contention_) contention().tenure.on_granted(held_since);
  // While others share it nobody is told of a release, so how many heard does not say who waits.
  const bool beside = others == 0 && tenancy_ != nullptr && tenancy_->ask().mode == wire::Mode::shared;
  if (contention_ && !beside) {
    // Others have some of the several at the same time, so nobody pauses for them.
    const bool several = target().plan().traits.holders == Traits::Holders::several;
    contention_->tenure.on_released(Clock::now(), several ? 0 : others);
    if (several) contention_->tenure.on_listeners(others);
  }
  if (end.others) other_released();
  if (end.ask_again) wake_head();
  rest();
}

}  // namespace holdfast::engine
