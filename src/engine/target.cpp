#include "engine/target.hpp"

#include "engine/core.hpp"
#include "engine/held_lock.hpp"

namespace holdfast::engine {

using base::Clock;

Target::Target(std::string name) : name_(std::move(name)) {}
Target::~Target() = default;

ThreadHolds& Target::threads() {
  const std::scoped_lock guard(mutex_);
  if (!threads_) threads_ = std::make_unique<ThreadHolds>();
  return *threads_;
}

ThreadHolds::Entry Target::hold_of(std::uint64_t thread) const {
  const ThreadHolds* threads = nullptr;
  {
    const std::scoped_lock guard(mutex_);
    threads = threads_.get();
  }
  return threads == nullptr ? ThreadHolds::Entry{} : threads->find(thread);
}

// ---- the queue ----

Target::Busy& Target::busy() {
  if (!busy_) {
    // Clients that are not told of releases ask now and then: they would starve.
    busy_ = std::make_unique<Busy>(plan().announced ? handoff() : Duration{});
    if (holder_ != nullptr) busy_->tenure.on_granted(holder_->extended_at());
  }
  return *busy_;
}

/// Forgets what is of no use any more.
void Target::rest() {
  if (!busy_ || head_ != nullptr || releasing_ > 0 || listening_ > 0 || busy_->tenure.others()) return;
  busy_.reset();
}

void Target::wake_head() {
  if (head_ != nullptr) head_->post(Waiter::Signal::wake);
}

void Target::enter(Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  if (head_ == nullptr) {
    head_ = &waiter;
    waiter.post(Waiter::Signal::turn);
  } else {
    busy().behind.push_back(waiter);
  }
}

std::optional<Kept> Target::leave(Waiter& waiter) {
  std::optional<Kept> unwanted;
  const std::scoped_lock guard(mutex_);
  if (head_ != &waiter) {
    if (waiter.is_linked()) busy_->behind.erase(busy_->behind.iterator_to(waiter));
    return unwanted;
  }
  head_ = nullptr;
  if (!busy_) return unwanted;
  if (busy_->behind.empty()) {
    unwanted.swap(busy_->kept);
    rest();
  } else {
    head_ = &busy_->behind.front();
    busy_->behind.pop_front();
    head_->post(Waiter::Signal::turn);
  }
  return unwanted;
}

void Target::wake() {
  const std::scoped_lock guard(mutex_);
  wake_head();
}

void Target::heard() {
  const std::scoped_lock guard(mutex_);
  // The message of our own release comes before its reply, and whatever is published after it comes after that.
  if (releasing_ > 0) return;
  if (holder_ == nullptr && busy_) busy_->tenure.on_other();
  if (head_ != nullptr) head_->post(Waiter::Signal::message);
}

void Target::close() {
  const std::scoped_lock guard(mutex_);
  if (head_ != nullptr) head_->post(Waiter::Signal::closed);
  if (!busy_) return;
  for (Waiter& waiter : busy_->behind) waiter.post(Waiter::Signal::closed);
}

void Target::drop_waiters() {
  for (;;) {
    Waiter* waiter = nullptr;
    {
      const std::scoped_lock guard(mutex_);
      waiter = head_;
      head_ = nullptr;
      if (busy_ && waiter == nullptr && !busy_->behind.empty()) {
        waiter = &busy_->behind.front();
        busy_->behind.pop_front();
      }
      if (busy_) busy_->kept.reset();
    }
    if (waiter == nullptr) return;
    waiter->drop();
  }
}

void Target::forget_threads() {
  ThreadHolds* threads = nullptr;
  {
    const std::scoped_lock guard(mutex_);
    threads = threads_.get();
  }
  if (threads != nullptr) threads->forget_all();
}

Target::Use Target::listen() {
  struct Listening {
    Listening(std::shared_ptr<Target> its_target, Use its_use)
        : target(std::move(its_target)), use(std::move(its_use)) {
      const std::scoped_lock guard(target->mutex_);
      ++target->listening_;
    }
    ~Listening() {
      const std::scoped_lock guard(target->mutex_);
      --target->listening_;
      target->rest();
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    const std::shared_ptr<Target> target;
    const Use use;
  };
  return std::make_shared<Listening>(shared_from_this(), begin_use());
}

// ---- the holder ----

TargetView Target::view() const {
  TargetView view;
  view.subscribed = subscribed();
  const std::scoped_lock guard(mutex_);
  view.held_here = holder_ != nullptr && holder_->stands();
  if (releasing_ > 0 && release_first_) {
    view.not_before = TimePoint::max();
  } else if (busy_) {
    view.not_before = busy_->tenure.pause_until();
  }
  return view;
}

void Target::set_holder(const std::shared_ptr<HeldLock>& holder) {
  const std::scoped_lock guard(mutex_);
  holder_ = holder.get();
  if (!busy_) return;
  busy_->tenure.on_granted(holder->extended_at());
  busy_->tenure.on_queue_served(Clock::now());
}

void Target::saw_other() {
  const std::scoped_lock guard(mutex_);
  if (releasing_ > 0) {
    overtaken_ = true;
  } else {
    busy().tenure.on_other();
  }
}

void Target::clear_holder(const HeldLock* holder) {
  const std::scoped_lock guard(mutex_);
  if (holder_ != holder) return;
  holder_ = nullptr;
  wake_head();
}

// ---- passing it on ----

bool Target::keep(Core& core, HeldLock& hold) {
  Pending::Token pending = core.pending().begin();  // close() waits until somebody has it, or has given it back
  const TimePoint now = Clock::now();
  const std::scoped_lock guard(mutex_);
  if (head_ == nullptr || holder_ != &hold || core.unusable() || !busy().tenure.may_pass(now)) return false;
  const std::optional<TimePoint> sent_at = hold.end_to_pass_on(now);
  if (!sent_at) return false;
  holder_ = nullptr;
  busy_->kept.emplace(hold.owner(), *sent_at, hold.lease(), std::move(pending));
  wake_head();
  return true;
}

Target::Taken Target::take_kept(const Taker& taker) {
  Taken taken;
  Pending::Token pending;  // until it is armed
  {
    const std::scoped_lock guard(mutex_);
    if (!busy_ || !busy_->kept) return taken;
    const TimePoint now = Clock::now();
    std::optional<Kept>& kept = busy_->kept;
    if (!taker.from_queue && !busy_->tenure.may_overtake(now)) return taken;
    const bool fits = taker.terms.renewed && taker.terms.length == kept->lease &&
                      now < lease_end(kept->sent_at, taker.terms.length / 2);
    if (!fits) {
      if (taker.from_queue) taken.unfit.swap(kept);
      return taken;
    }
    if (taker.from_queue) busy_->tenure.on_queue_served(now);
    taken.held = std::make_shared<HeldLock>(taker.core, shared_from_this(), kept->owner, kept->sent_at, taker.terms,
                                            taker.on_lost, now);
    pending = std::move(kept->pending);
    kept.reset();
    holder_ = taken.held.get();
  }
  taker.core->watchdog().arm(taken.held);
  return taken;
}

void Target::give_back(Core& core, Kept kept) {
  begin_release();
  release(core, kept.owner, lease_end(kept.sent_at, kept.lease), kept.sent_at + kept.lease + margin(kept.lease),
          [self = shared_from_this(), since = kept.sent_at,
           pending = std::move(kept.pending)](const Released& released) { self->end_release(released, since); });
}

// ---- giving it back ----

bool Target::others_listened() const {
  const std::scoped_lock guard(mutex_);
  return busy_ && busy_->tenure.others();
}

void Target::begin_release() {
  const std::scoped_lock guard(mutex_);
  ++releasing_;
  release_first_ = busy_ && busy_->tenure.must_ask_after_release(Clock::now());
}

void Target::end_release(const Released& released, TimePoint held_since) {
  const std::scoped_lock guard(mutex_);
  --releasing_;
  const bool ask_again = std::exchange(overtaken_, false) || release_first_;
  const bool others = released.listeners > listening_;
  if (others && !busy_) busy().tenure.on_granted(held_since);
  if (busy_) busy_->tenure.on_released(Clock::now(), others);
  if (ask_again) wake_head();
  rest();
}

void Target::undo(Core& core, const wire::Owner& owner, milliseconds lease) {
  if (core.in_child()) return;
  const TimePoint end = Clock::now() + lease + margin(lease);
  release(core, owner, end, end, [](const Released&) {});
}

}  // namespace holdfast::engine
