#include "engine/notifier.hpp"

namespace holdfast::engine {

Notifier::~Notifier() { stop(); }

void Notifier::post(std::function<void()> task) {
  {
    const std::scoped_lock guard(mutex_);
    if (stopping_) return;
    if (elsewhere_) return elsewhere_([task = std::move(task)] { run(task); });
    tasks_.push_back(std::move(task));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  wake_.notify_one();
}

void Notifier::stop() {
  {
    const std::scoped_lock guard(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Notifier::run() {
  std::unique_lock guard(mutex_);
  for (;;) {
    wake_.wait(guard, [&] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    guard.unlock();
    run(task);
    guard.lock();
  }
}

void Notifier::run(const std::function<void()>& task) noexcept {
  try {
    task();
  } catch (...) {
    // The user's code threw; Observer and AcquireOptions::on_lost say that this is swallowed.
  }
}

}  // namespace holdfast::engine
