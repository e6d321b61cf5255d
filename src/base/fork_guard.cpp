#include "base/fork_guard.hpp"

#include <atomic>
#include <pthread.h>

namespace holdfast::base {
namespace {

std::atomic<std::uint32_t> generation{0};

}  // namespace

std::uint32_t fork_generation() noexcept {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace holdfast::base
