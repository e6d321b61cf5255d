// SPDX-License-Identifier: Apache-2.0
#include "loop/notifier.hpp"

#include <optional>
#include <utility>

#include "base/no_signals.hpp"

namespace holdfast::engine {

using base::Clock;
using base::TimePoint;

Notifier::Queue::~Queue() {
  while (first != nullptr) std::exchange(first, first->next_)->drop();
}

Notifier::Queue::Next Notifier::Queue::take() {
  Next next;
  if (first != nullptr) {
    next.notice = std::exchange(first, first->next_);
  } else if (!events.empty()) {
    next.event = std::move(events.front());
    events.pop_front();
  }
  return next;
}

void Notifier::Queue::Next::run() noexcept {
  try {
    if (notice != nullptr) {
      notice->run();
    } else if (event) {
      event();
    }
  } catch (...) {
    // The user's code threw; Observer and AcquireOptions::on_lost say that this is swallowed.
  }
}

Notifier::Notifier(boost::asio::io_context* host) : host_(host) {}

Notifier::~Notifier() { stop(); }

void Notifier::start(Watch watch) {
  if (host_ != nullptr) return;
  watch_ = std::move(watch);
  std::optional<base::NoSignals> inherited;
  if (watch_) inherited.emplace();
  thread_ = std::thread([this] { run(); });
}

bool Notifier::post(std::function<void()> event) {
  {
    const base::Guard guard(queue_->mutex);
    if (queue_->stopping || queue_->events.size() >= kMostEvents) return false;
    queue_->events.push_back(std::move(event));
    carry_on();
  }
  wake_.notify_one();
  return true;
}

void Notifier::post(Notice& notice) noexcept {
  {
    base::WaitingGuard guard(queue_->mutex);
    if (queue_->stopping) {
      guard.unlock();
      return notice.drop();
    }
    notice.next_ = nullptr;
    if (queue_->first == nullptr) {
      queue_->first = &notice;
    } else {
      queue_->last->next_ = &notice;
    }
    queue_->last = &notice;
    carry_on();
  }
  wake_.notify_one();
}

/// With the mutex, so that nothing is posted on a host that is being destroyed.
void Notifier::carry_on() noexcept {
  if (host_ != nullptr && !std::exchange(queue_->carried_on, true)) run_next(*host_, queue_);
}

/// One after another, so that the caller's other work comes in between.
void Notifier::run_next(boost::asio::io_context& host, std::shared_ptr<Queue> queue) noexcept {
  Queue& its = *queue;
  timing::post_in(its.slot, host, [&host, queue = std::move(queue)]() mutable {
    Queue::Next next;
    {
      const base::Guard guard(queue->mutex);
      next = queue->take();
    }
    next.run();
    {
      const base::Guard guard(queue->mutex);
      queue->carried_on = !queue->empty();
      if (!queue->carried_on) return;
    }
    run_next(host, std::move(queue));
  });
}

void Notifier::wake() noexcept {
  {
    const base::Guard guard(queue_->mutex);
    queue_->woken = true;
  }
  wake_.notify_one();
}

void Notifier::stop() noexcept {
  {
    const base::Guard guard(queue_->mutex);
    if (queue_->stopping) return;
    queue_->stopping = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Notifier::run() {
  Queue& queue = *queue_;
  base::WaitingGuard guard(queue.mutex);
  for (;;) {
    TimePoint next = TimePoint::max();
    if (watch_) {
      queue.woken = false;
      guard.unlock();
      next = watch_();
      guard.lock();
    }
    const auto called = [&queue]()
                            HOLDFAST_REQUIRES(queue.mutex) { return queue.woken || queue.stopping || !queue.empty(); };
    if (next == TimePoint::max()) {
      guard.wait(wake_, called);
    } else {
      guard.wait_for(wake_, next - Clock::now(), called);
    }
    if (!queue.empty()) {
      Queue::Next due = queue.take();
      guard.unlock();
      due.run();
      due = {};  // without the mutex
      guard.lock();
    } else if (queue.stopping) {
      return;
    }
  }
}

}  // namespace holdfast::engine
