#include "engine/target.hpp"

#include "engine/core.hpp"
#include "engine/held_lock.hpp"

namespace holdfast::engine {

void Target::enter(Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  queue_.push_back(&waiter);
  if (queue_.front() == &waiter) waiter.post(Waiter::Signal::turn);
}

void Target::leave(Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  if (queue_.empty()) return;
  const bool was_head = queue_.front() == &waiter;
  queue_.remove(&waiter);
  if (was_head && !queue_.empty()) queue_.front()->post(Waiter::Signal::turn);
}

void Target::wake() {
  const std::scoped_lock guard(mutex_);
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
  return view;
}

void Target::set_holder(const std::shared_ptr<HeldLock>& holder) {
  const std::scoped_lock guard(mutex_);
  holder_ = holder;
  holder_id_ = holder.get();
}

void Target::clear_holder(const HeldLock* holder) {
  const std::scoped_lock guard(mutex_);
  if (holder_id_ != holder) return;
  holder_.reset();
  holder_id_ = nullptr;
  if (!queue_.empty()) queue_.front()->post(Waiter::Signal::wake);
}

void Target::undo(Core& core, const wire::Owner& owner, milliseconds lease) {
  if (core.in_child()) return;
  const TimePoint end = base::Clock::now() + lease + margin(lease);
  release(core, owner, end, end, [](ReleaseOutcome) {});
}

}  // namespace holdfast::engine
