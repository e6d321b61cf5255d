#include "engine/hold/queue.hpp"

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

}  // namespace holdfast::engine
