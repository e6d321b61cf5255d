// SPDX-License-Identifier: Apache-2.0
#include "loop/loop.hpp"

#include <thread>

namespace holdfast::engine {

Loop::Loop(boost::asio::io_context& context, DefersBy defers_by, std::function<void()> settle)
    : context_(context), defers_by_(defers_by), settle_(std::move(settle)) {}

Loop::~Loop() { Loop::shut(); }

/// What is dropped here may post, as may what the host destroys after this.
void Loop::shut() noexcept {
  refuse();
  for (Task* task = inbox_.exchange(nullptr); task != nullptr;) {
    const std::shared_ptr<Task> last = std::move(task->keep_);
    task = task->next_;
  }
}

void Loop::post(std::shared_ptr<Task> task) noexcept {
  if (shut_) return;
  Task* const newest = task.get();
  newest->keep_ = std::move(task);
  Task* older = inbox_.load(std::memory_order_relaxed);
  do {
    newest->next_ = older;
  } while (!inbox_.compare_exchange_weak(older, newest, std::memory_order_release, std::memory_order_relaxed));
  if (!emptying_.exchange(true)) wake();
}

void Loop::take_inbox() noexcept {
  emptying_.exchange(false);  // before the inbox is read: whoever posts after this wakes it again
  empty_inbox();
}

void Loop::empty_inbox() noexcept {
  Task* task = in_order(inbox_.exchange(nullptr, std::memory_order_acquire));
  while (task != nullptr) {
    const std::shared_ptr<Task> kept = std::move(task->keep_);
    task = task->next_;
    run(*kept);
  }
}

void Loop::run(Task& task) noexcept {
  try {
    task.run();
  } catch (...) {
    task.broken();
  }
}

Loop::Task* Loop::in_order(Task* newest) {
  Task* first = nullptr;
  while (newest != nullptr) {
    Task* const older = std::exchange(newest->next_, first);
    first = std::exchange(newest, older);
  }
  return first;
}

int spare_processors() {
  static const int spare = static_cast<int>(std::thread::hardware_concurrency()) - 1;
  return spare;
}

}  // namespace holdfast::engine
