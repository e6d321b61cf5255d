#include "engine/loop/loop.hpp"

#include <new>

#include <boost/asio/bind_allocator.hpp>

namespace holdfast::engine {

Loop::Loop(boost::asio::io_context& context, WakeSlot* slot, std::optional<Strand> strand, std::function<void()> settle)
    : context_(context), strand_(std::move(strand)), settle_(std::move(settle)), slot_(slot) {}

Loop::~Loop() { shut(); }

/// What is dropped here may post, as may what the host destroys after this.
void Loop::shut() noexcept {
  shut_ = true;
  for (Task* task = inbox_.exchange(nullptr); task != nullptr;) {
    const std::shared_ptr<Task> last = std::move(task->keep_);
    task = task->next_;
  }
}

boost::asio::any_io_executor Loop::executor() const {
  if (strand_) return *strand_;
  return context_.get_executor();
}

/// Gives out the slot, to one at a time.
template <class T>
struct Loop::InSlot {
  using value_type = T;
  explicit InSlot(WakeSlot* where) : slot(where) {}
  template <class U>
  explicit InSlot(const InSlot<U>& other) : slot(other.slot) {}
  T* allocate(std::size_t count) {
    if (count * sizeof(T) > sizeof(slot->bytes)) throw std::bad_alloc();
    return reinterpret_cast<T*>(slot->bytes);
  }
  void deallocate(T*, std::size_t) {}
  friend bool operator==(const InSlot& a, const InSlot& b) { return a.slot == b.slot; }

  WakeSlot* slot;
};

void Loop::post(std::shared_ptr<Task> task) noexcept {
  if (shut_) return;
  Task* const newest = task.get();
  newest->keep_ = std::move(task);
  Task* older = inbox_.load(std::memory_order_relaxed);
  do {
    newest->next_ = older;
  } while (!inbox_.compare_exchange_weak(older, newest, std::memory_order_release, std::memory_order_relaxed));
  if (!emptying_.exchange(true)) wake_for_inbox();
}

/// The slot is free again when the handler runs: asio takes it out before it calls it.
void Loop::wake_for_inbox() {
  const auto empty = [this] {
    emptying_.exchange(false);  // before the look: whoever posts after this wakes it again
    empty_inbox();
  };
  if (slot_ != nullptr) {
    boost::asio::post(context_, boost::asio::bind_allocator(InSlot<std::byte>(slot_), empty));
    nudge();
    return;
  }
  try {
    defer(empty);
  } catch (...) {
    emptying_.store(false);  // out of memory on a guest's loop: with whatever is posted next
  }
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

}  // namespace holdfast::engine
