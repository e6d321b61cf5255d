// Somebody of this client who waits for a lock.
#pragma once

#include <cstddef>

namespace holdfast::engine {

/// `post` must not block and is called with the target locked.
class Waiter {
 public:
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  enum class Signal {
    turn,     // at the head of the queue
    wake,     // something has changed in this client, or the connection is new
    message,  // a release was announced on a wake channel
    closed,   // the client is closed, or gives everything back
  };
  virtual void post(Signal signal) noexcept = 0;
  /// Is gone without a word: its loop is gone.
  virtual void drop() = 0;
  /// It wants the lock together with others who want it in the same way.
  bool shares() const { return shares_; }
  /// It is in a queue.
  bool is_linked() const { return next != nullptr; }

  // For WaitQueue only: in a circle.
  Waiter* next = nullptr;
  Waiter* previous = nullptr;
  std::size_t alone = 0;  // at the head: how many of the queue do not share

 protected:
  explicit Waiter(bool shares = false) : shares_(shares) {}
  ~Waiter() = default;

 private:
  const bool shares_;
};

}  // namespace holdfast::engine
