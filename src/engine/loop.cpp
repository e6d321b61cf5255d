#include "engine/loop.hpp"

namespace holdfast::engine {

Loop::Loop(boost::asio::io_context& context, std::optional<Strand> strand, std::function<void()> settle)
    : context_(context), strand_(std::move(strand)), settle_(std::move(settle)) {}

Loop::~Loop() { drop_inbox(); }

void Loop::drop_inbox() {
  for (Task* task = inbox_.exchange(nullptr); task != nullptr;) {
    const std::shared_ptr<Task> last = std::move(task->keep_);
    task = task->next_;
  }
}

boost::asio::any_io_executor Loop::executor() const {
  if (strand_) return *strand_;
  return context_.get_executor();
}

void Loop::post(std::shared_ptr<Task> task) {
  Task* const newest = task.get();
  newest->keep_ = std::move(task);
  Task* older = inbox_.load(std::memory_order_relaxed);
  do {
    newest->next_ = older;
  } while (!inbox_.compare_exchange_weak(older, newest, std::memory_order_release, std::memory_order_relaxed));
  // Whoever finds it empty sees to it that it is emptied.
  if (older == nullptr) defer([this] { empty_inbox(); });
}

void Loop::empty_inbox() {
  Task* task = in_order(inbox_.exchange(nullptr, std::memory_order_acquire));
  while (task != nullptr) {
    const std::shared_ptr<Task> kept = std::move(task->keep_);
    task = task->next_;
    kept->run();
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

}  // namespace holdfast::engine
