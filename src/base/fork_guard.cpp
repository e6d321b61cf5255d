// SPDX-License-Identifier: Apache-2.0
#include "base/fork_guard.hpp"

#include <atomic>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/guarded.hpp"
#include "system/system.hpp"

namespace holdfast::base {
namespace {

std::atomic<std::uint32_t> generation{0};

}  // namespace

/// All of them. Locked while the process forks, so that the child finds the list whole.
struct ParentsDescriptors {
  Mutex mutex;
  NotForChildren* first = nullptr;

  void add(NotForChildren& entry) noexcept {
    const Guard guard(mutex);
    entry.next_ = first;
    if (first != nullptr) first->previous_ = &entry;
    first = &entry;
  }
  void remove(NotForChildren& entry) noexcept {
    const Guard guard(mutex);
    (entry.previous_ == nullptr ? first : entry.previous_->next_) = entry.next_;
    if (entry.next_ != nullptr) entry.next_->previous_ = entry.previous_;
  }
  void before_fork() noexcept HOLDFAST_NOT_GUARDED { mutex.lock(); }
  void in_parent() noexcept HOLDFAST_NOT_GUARDED { mutex.unlock(); }
  /// Only async-signal-safe calls. Not just closed: the number could come to stand for a file of the child's, and an
  /// event loop that the child has from its parent may still be told of it.
  void in_child() noexcept HOLDFAST_NOT_GUARDED {
    for (const NotForChildren* entry = first; entry != nullptr; entry = entry->next_) {
      const int nothing = system::new_socket(AF_UNIX, SOCK_STREAM);
      if (nothing < 0) {
        close(entry->descriptor_);
        continue;
      }
      system::put_at(nothing, entry->descriptor_);
      close(nothing);
    }
    mutex.unlock();
  }
};

namespace {

ParentsDescriptors descriptors;

int watch_forks() noexcept {
  return pthread_atfork([] { descriptors.before_fork(); }, [] { descriptors.in_parent(); },
                        [] {
                          generation.fetch_add(1, std::memory_order_relaxed);
                          descriptors.in_child();
                        });
}

}  // namespace

std::uint32_t fork_generation() noexcept {
  static const int registered = watch_forks();
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

NotForChildren::NotForChildren(int descriptor) noexcept : descriptor_(descriptor) {
  fork_generation();
  descriptors.add(*this);
}

NotForChildren::~NotForChildren() { descriptors.remove(*this); }

}  // namespace holdfast::base
