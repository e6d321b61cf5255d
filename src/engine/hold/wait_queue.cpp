#include "engine/hold/wait_queue.hpp"

namespace holdfast::engine {

void WaitQueue::enter(Waiter& waiter) {
  waiters_.push_back(waiter);
  if (!waiter.shares()) ++alone_;
  if (&waiters_.front() == &waiter) waiter.post(Waiter::Signal::turn);
}

bool WaitQueue::leave(Waiter& waiter) {
  if (!waiter.is_linked()) return false;
  const bool was_head = &waiters_.front() == &waiter;
  waiters_.erase(waiters_.iterator_to(waiter));
  if (!waiter.shares()) --alone_;
  if (was_head) post(Waiter::Signal::turn);
  return was_head;
}

void WaitQueue::post(Waiter::Signal signal) {
  if (!waiters_.empty()) waiters_.front().post(signal);
}

void WaitQueue::post_to_all(Waiter::Signal signal) {
  for (Waiter& waiter : waiters_) waiter.post(signal);
}

Waiter* WaitQueue::take_head() {
  if (waiters_.empty()) return nullptr;
  Waiter& head = waiters_.front();
  waiters_.pop_front();
  if (!head.shares()) --alone_;
  return &head;
}

}  // namespace holdfast::engine
