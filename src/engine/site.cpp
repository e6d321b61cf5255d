#include "engine/site.hpp"

#include <algorithm>

#include "engine/held_lock.hpp"

namespace holdfast::engine {

Site::Site(std::string name, const std::string& raw_name, const Plan& plan, std::shared_ptr<redis::Channels> channels)
    : name_(std::move(name)), names_(raw_name), plan_(plan), channels_(std::move(channels)) {}

std::uint64_t Site::begin_use() {
  return channels_->begin_use(names_.channel, [weak = weak_from_this()] {
    if (const std::shared_ptr<Site> site = weak.lock()) site->wake();
  });
}

void Site::enter(Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  queue_.push_back(&waiter);
  if (queue_.front() == &waiter) waiter.post(Waiter::Signal::turn);
}

void Site::leave(Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  if (queue_.empty()) return;
  const bool was_head = queue_.front() == &waiter;
  queue_.remove(&waiter);
  if (was_head && !queue_.empty()) queue_.front()->post(Waiter::Signal::turn);
}

void Site::wake() {
  const std::scoped_lock guard(mutex_);
  if (!queue_.empty()) queue_.front()->post(Waiter::Signal::wake);
}

void Site::close() {
  std::map<std::uint64_t, ThreadHold> forgotten;  // destroyed without the mutex
  const std::scoped_lock guard(mutex_);
  for (Waiter* waiter : queue_) waiter->post(Waiter::Signal::closed);
  forgotten.swap(threads_);
}

SiteView Site::view() const {
  SiteView view;
  view.subscribed = channels_->subscribed(names_.channel);
  std::shared_ptr<HeldLock> holder;  // destroyed without the mutex
  const std::scoped_lock guard(mutex_);
  holder = holder_.lock();
  view.held_here = holder && holder->stands();
  return view;
}

void Site::set_holder(const std::shared_ptr<HeldLock>& holder) {
  const std::scoped_lock guard(mutex_);
  holder_ = holder;
  holder_id_ = holder.get();
}

void Site::clear_holder(const HeldLock* holder) {
  const std::scoped_lock guard(mutex_);
  if (holder_id_ != holder) return;
  holder_.reset();
  holder_id_ = nullptr;
  if (!queue_.empty()) queue_.front()->post(Waiter::Signal::wake);
}

Site::ThreadHold Site::find(std::uint64_t thread) const {
  const std::scoped_lock guard(mutex_);
  const auto found = threads_.find(thread);
  return found == threads_.end() ? ThreadHold{} : found->second;
}

void Site::own(std::uint64_t thread, std::shared_ptr<HeldLock> held) {
  const std::scoped_lock guard(mutex_);
  threads_[thread] = {std::move(held), 1};
}

void Site::reenter(std::uint64_t thread) {
  const std::scoped_lock guard(mutex_);
  const auto found = threads_.find(thread);
  if (found != threads_.end()) ++found->second.count;
}

Site::ThreadHold Site::leave_level(std::uint64_t thread) {
  const std::scoped_lock guard(mutex_);
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return {};
  ThreadHold before = found->second;
  if (--found->second.count == 0) threads_.erase(found);
  return before;
}

}  // namespace holdfast::engine
