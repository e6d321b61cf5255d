// Reserved memory for one handler that must run even when memory is exhausted.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

namespace holdfast::timing {

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

}  // namespace holdfast::timing
