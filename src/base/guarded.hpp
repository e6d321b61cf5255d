// SPDX-License-Identifier: Apache-2.0
// Mutexes that clang can check: which field each of them guards, and which function needs it locked (`tools/tidy`).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#if defined(__clang__)
#define HOLDFAST_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define HOLDFAST_THREAD_SAFETY(attribute)
#endif

/// For a field: read and written only with this mutex locked.
#define HOLDFAST_GUARDED_BY(mutex) HOLDFAST_THREAD_SAFETY(guarded_by(mutex))
/// For a function: must be called with these mutexes locked.
#define HOLDFAST_REQUIRES(...) HOLDFAST_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// For a function that needs no mutex for what it reads; its comment says why.
#define HOLDFAST_NOT_GUARDED HOLDFAST_THREAD_SAFETY(no_thread_safety_analysis)
/// For the classes of mutexes and guards.
#define HOLDFAST_CAPABILITY(name) HOLDFAST_THREAD_SAFETY(capability(name))
#define HOLDFAST_SCOPED_CAPABILITY HOLDFAST_THREAD_SAFETY(scoped_lockable)
#define HOLDFAST_ACQUIRE(...) HOLDFAST_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define HOLDFAST_RELEASE(...) HOLDFAST_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define HOLDFAST_TRY_ACQUIRE(...) HOLDFAST_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))

namespace holdfast::base {

/// std::mutex, annotated.
class HOLDFAST_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() HOLDFAST_ACQUIRE() { mutex_.lock(); }
  void unlock() HOLDFAST_RELEASE() { mutex_.unlock(); }

 private:
  friend class WaitingGuard;
  std::mutex mutex_;
};

/// Locks a mutex as long as it lives.
template <class AnyMutex>
class HOLDFAST_SCOPED_CAPABILITY Guard {
 public:
  explicit Guard(AnyMutex& mutex) HOLDFAST_ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
  ~Guard() HOLDFAST_RELEASE() { mutex_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  AnyMutex& mutex_;
};

/// The same, but may be unlocked in between, or while it waits.
class HOLDFAST_SCOPED_CAPABILITY WaitingGuard {
 public:
  explicit WaitingGuard(Mutex& mutex) HOLDFAST_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~WaitingGuard() HOLDFAST_RELEASE() = default;
  WaitingGuard(const WaitingGuard&) = delete;
  WaitingGuard& operator=(const WaitingGuard&) = delete;

  void lock() HOLDFAST_ACQUIRE() { lock_.lock(); }
  void unlock() HOLDFAST_RELEASE() { lock_.unlock(); }
  template <class Condition>
  void wait(std::condition_variable& event, Condition condition) {
    event.wait(lock_, condition);
  }
  template <class Duration, class Condition>
  bool wait_for(std::condition_variable& event, Duration limit, Condition condition) {
    return event.wait_for(lock_, limit, condition);
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

/// A mutex of four bytes, for objects of which there may be millions. For short critical sections; a thread that has to
/// wait sleeps. (The third of the mutexes in Drepper, "Futexes Are Tricky", 2011.)
class HOLDFAST_CAPABILITY("mutex") SmallMutex {
 public:
  SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;

  void lock() noexcept HOLDFAST_ACQUIRE() {
    std::int32_t seen = kFree;
    if (state_.compare_exchange_strong(seen, kLocked, std::memory_order_acquire)) return;
    if (seen != kContended) seen = state_.exchange(kContended, std::memory_order_acquire);
    while (seen != kFree) {
      state_.wait(kContended, std::memory_order_relaxed);
      seen = state_.exchange(kContended, std::memory_order_acquire);
    }
  }
  bool try_lock() noexcept HOLDFAST_TRY_ACQUIRE(true) {
    std::int32_t seen = kFree;
    return state_.compare_exchange_strong(seen, kLocked, std::memory_order_acquire);
  }
  void unlock() noexcept HOLDFAST_RELEASE() {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) state_.notify_one();
  }

 private:
  static constexpr std::int32_t kFree = 0, kLocked = 1, kContended = 2;
  std::atomic<std::int32_t> state_{kFree};
};

}  // namespace holdfast::base
