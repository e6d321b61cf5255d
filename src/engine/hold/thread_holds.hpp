// The holds that belong to threads (the std face): which thread has which, and how many levels deep.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace holdfast::engine {

class Holding;

/// Thread-safe; only a thread itself changes its own entry. There may be millions of these: as small as a pointer until
/// a thread owns a hold.
class ThreadHolds {
 public:
  struct Entry {
    std::shared_ptr<Holding> held;
    int count = 0;  // levels of re-entry; zero: the thread does not own the lock
  };

  ThreadHolds() = default;
  ~ThreadHolds();
  ThreadHolds(const ThreadHolds&) = delete;
  ThreadHolds& operator=(const ThreadHolds&) = delete;

  Entry find(std::uint64_t thread) const;
  void own(std::uint64_t thread, std::shared_ptr<Holding> held);
  /// One level deeper; the thread owns the lock.
  void reenter(std::uint64_t thread);
  /// One level up. Returns the entry as it was; at its last level the entry is gone and the caller releases the hold.
  Entry leave_level(std::uint64_t thread);
  void forget_all();

 private:
  struct Table;
  Table& table();

  std::atomic<Table*> table_{nullptr};  // stays once it is there
};

}  // namespace holdfast::engine
