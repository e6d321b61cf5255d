// SPDX-License-Identifier: Apache-2.0
// The one timer of an event loop, on the clock that leases use.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/clock.hpp"

namespace holdfast::timing {

// Reserved memory for one handler that must run even when memory is exhausted.

struct HandlerSlot {
  alignas(std::max_align_t) std::byte bytes[256] = {};
};

/// Hands out the slot, to one user at a time.
template <class T>
struct InSlot {
  using value_type = T;
  explicit InSlot(HandlerSlot* where) : slot(where) {}
  template <class U>
  explicit InSlot(const InSlot<U>& other) : slot(other.slot) {}
  T* allocate(std::size_t count) {
    if (count * sizeof(T) > sizeof(slot->bytes)) throw std::bad_alloc();
    return reinterpret_cast<T*>(slot->bytes);
  }
  void deallocate(T*, std::size_t) {}
  friend bool operator==(const InSlot& a, const InSlot& b) { return a.slot == b.slot; }

  HandlerSlot* slot;
};

/// The slot is free again when the handler runs or is destroyed: Asio moves the handler out first. The handler may keep
/// the slot alive.
template <class Handler>
auto in_slot(HandlerSlot& slot, Handler handler) {
  return boost::asio::bind_allocator(InSlot<std::byte>(&slot), std::move(handler));
}

template <class Handler>
void post_in(HandlerSlot& slot, boost::asio::io_context& context, Handler handler) {
  boost::asio::post(context, in_slot(slot, std::move(handler)));
}

/// Waits from start() to rest(), on the executor, for a time that may be moved. All memory is allocated before start()
/// returns, so times set later cannot fail. Only Schedule has one. A program that links its own definitions of this
/// class and of base::Clock::now() runs whole clients in simulated time.
class Timer {
 public:
  /// `on_time` is called at the time that was set, or earlier, and sets the next one.
  Timer(const boost::asio::any_io_executor& executor, std::function<void()> on_time);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// `owner`: kept alive while `on_time` runs, which is not called once the owner is gone; without one, the code that
  /// destroys the timer must ensure that. Throws std::bad_alloc.
  void start(std::weak_ptr<void> owner);
  /// Sets an earlier time; a later one than the present one has no effect.
  void wait_until(base::TimePoint time) noexcept;
  /// Clears the time; from now on it only waits while a time is set, so that the loop can run out of work.
  void rest() noexcept;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::timing
