// The holds that belong to threads (the std face): which thread has which, in which mode, and how many levels deep.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "wire/owner.hpp"

namespace holdfast::engine {

class Claim;

/// Thread-safe; only a thread itself changes its own entry. There may be millions of these: as small as a pointer until
/// a thread owns a hold.
class ThreadHolds {
 public:
  /// A thread may have it in either mode, or in both.
  struct Who {
    std::uint64_t thread = 0;
    wire::Mode mode = wire::Mode::exclusive;
    friend auto operator<=>(const Who&, const Who&) = default;
  };
  struct Entry {
    std::shared_ptr<Claim> held;
    int count = 0;  // levels of re-entry; zero: the thread does not own the lock
  };

  ThreadHolds() = default;
  ~ThreadHolds();
  ThreadHolds(const ThreadHolds&) = delete;
  ThreadHolds& operator=(const ThreadHolds&) = delete;

  Entry find(Who who) const;
  void own(Who who, std::shared_ptr<Claim> held);
  /// One level deeper; the thread owns the lock.
  void reenter(Who who);
  /// One level up. Returns the entry as it was; at its last level the entry is gone and the caller releases the hold.
  Entry leave_level(Who who);
  void forget_all();

 private:
  struct Table;
  Table& table();

  std::atomic<Table*> table_{nullptr};  // stays once it is there
};

}  // namespace holdfast::engine
