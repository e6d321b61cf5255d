#include "engine/target.hpp"

#include "engine/core.hpp"
#include "engine/held_lock.hpp"

namespace holdfast::engine {

void Target::enter(Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  queue_.push_back(&waiter);
  if (queue_.front() == &waiter) waiter.post(Waiter::Signal::turn);
}

std::optional<Kept> Target::leave(Waiter& waiter) {
  std::optional<Kept> unwanted;
  const std::scoped_lock guard(mutex_);
  if (queue_.empty()) return unwanted;
  const bool was_head = queue_.front() == &waiter;
  queue_.remove(&waiter);
  if (queue_.empty()) {
    unwanted.swap(kept_);
  } else if (was_head) {
    queue_.front()->post(Waiter::Signal::turn);
  }
  return unwanted;
}

void Target::wake() {
  const std::scoped_lock guard(mutex_);
  if (!queue_.empty()) queue_.front()->post(Waiter::Signal::wake);
}

void Target::heard() {
  const std::scoped_lock guard(mutex_);
  // The message of our own release comes before its reply, and whatever is published after it comes after that.
  if (releasing_ > 0) return;
  if (holder_id_ == nullptr) tenure_.on_other();
  if (!queue_.empty()) queue_.front()->post(Waiter::Signal::wake);
}

void Target::close() {
  {
    const std::scoped_lock guard(mutex_);
    for (Waiter* waiter : queue_) waiter->post(Waiter::Signal::closed);
  }
  threads_.forget_all();
}

TargetView Target::view() const {
  TargetView view;
  view.subscribed = subscribed();
  std::shared_ptr<HeldLock> holder;  // destroyed without the mutex
  const std::scoped_lock guard(mutex_);
  holder = holder_.lock();
  view.held_here = holder && holder->stands();
  view.not_before = releasing_ > 0 && release_first_ ? TimePoint::max() : tenure_.pause_until();
  return view;
}

void Target::set_holder(const std::shared_ptr<HeldLock>& holder, TimePoint sent_at) {
  const std::scoped_lock guard(mutex_);
  holder_ = holder;
  holder_id_ = holder.get();
  tenure_.on_granted(sent_at);
  tenure_.on_queue_served(base::Clock::now());
}

void Target::saw_other() {
  const std::scoped_lock guard(mutex_);
  if (releasing_ > 0) {
    overtaken_ = true;
  } else {
    tenure_.on_other();
  }
}

void Target::clear_holder(const HeldLock* holder) {
  const std::scoped_lock guard(mutex_);
  if (holder_id_ != holder) return;
  holder_.reset();
  holder_id_ = nullptr;
  if (!queue_.empty()) queue_.front()->post(Waiter::Signal::wake);
}

bool Target::keep(Core& core, HeldLock& hold) {
  Pending::Token pending = core.pending().begin();  // close() waits until somebody has it, or has given it back
  const TimePoint now = base::Clock::now();
  const std::scoped_lock guard(mutex_);
  if (queue_.empty() || holder_id_ != &hold || !tenure_.may_pass(now) || core.unusable()) return false;
  const std::optional<TimePoint> sent_at = hold.end_to_pass_on(now);
  if (!sent_at) return false;
  holder_.reset();
  holder_id_ = nullptr;
  kept_.emplace(hold.owner(), *sent_at, hold.terms(), std::move(pending));
  queue_.front()->post(Waiter::Signal::wake);
  return true;
}

Target::Taken Target::take_kept(const Taker& taker) {
  const TimePoint now = base::Clock::now();
  Taken taken;
  Pending::Token pending;  // until it is armed
  {
    const std::scoped_lock guard(mutex_);
    if (!kept_ || !(taker.from_queue || tenure_.may_overtake(now))) return taken;
    const bool fits = taker.terms.renewed && taker.terms.length == kept_->terms.length &&
                      now < lease_end(kept_->sent_at, taker.terms.length / 2);
    if (!fits) {
      if (taker.from_queue) taken.unfit.swap(kept_);
      return taken;
    }
    if (taker.from_queue) tenure_.on_queue_served(now);
    taken.held = std::make_shared<HeldLock>(taker.core, shared_from_this(), std::move(kept_->owner), kept_->sent_at,
                                            taker.terms, taker.on_lost, now);
    pending = std::move(kept_->pending);
    kept_.reset();
    holder_ = taken.held;
    holder_id_ = taken.held.get();
  }
  taker.core->watchdog().arm(taken.held);
  return taken;
}

void Target::give_back(Core& core, Kept kept) {
  const TimePoint end = kept.sent_at + kept.terms.length + margin(kept.terms.length);
  begin_release();
  release(core, kept.owner, lease_end(kept.sent_at, kept.terms.length), end,
          [self = shared_from_this(), pending = std::move(kept.pending)](const Released& released) {
            self->end_release(released);
          });
}

bool Target::others_listened() const {
  const std::scoped_lock guard(mutex_);
  return tenure_.others();
}

void Target::begin_release() {
  const std::scoped_lock guard(mutex_);
  ++releasing_;
  release_first_ = tenure_.must_ask_after_release(base::Clock::now());
}

void Target::end_release(const Released& released) {
  const std::scoped_lock guard(mutex_);
  --releasing_;
  const bool ask_again = std::exchange(overtaken_, false) || release_first_;
  tenure_.on_released(base::Clock::now(), released.listeners > listening_);
  if (ask_again && !queue_.empty()) queue_.front()->post(Waiter::Signal::wake);
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
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    const std::shared_ptr<Target> target;
    const Use use;
  };
  return std::make_shared<Listening>(shared_from_this(), begin_use());
}

void Target::undo(Core& core, const wire::Owner& owner, milliseconds lease) {
  if (core.in_child()) return;
  const TimePoint end = base::Clock::now() + lease + margin(lease);
  release(core, owner, end, end, [](const Released&) {});
}

}  // namespace holdfast::engine
